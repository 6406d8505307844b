// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A surrogate on every execution space of the build, on Views in that space's memory.
#include "simulation.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include "zygos/insitu/ensemble.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace zygos::insitu::test_spaces {
namespace {

constexpr std::size_t samples = 300;

/// Two inputs in Views of their own, one output; sample 5 is not finite.
template <class Exec>
struct Fields {
  using View = Kokkos::View<double**, typename Exec::array_layout, typename Exec::memory_space>;

  Fields()
      : x("zygos::test::x", samples, 3),
        v("zygos::test::v", samples, 1),
        f("zygos::test::f", samples, 2) {
    const auto values = testing::random_values(samples * 4, 3);
    const auto host_x = Kokkos::create_mirror_view(x);
    const auto host_v = Kokkos::create_mirror_view(v);
    const auto host_f = Kokkos::create_mirror_view(f);
    for (std::size_t i = 0; i < samples; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        host_x(i, k) = values[4 * i + k];
      }
      host_v(i, 0) = 1e3 * values[4 * i + 3];
      host_f(i, 0) = host_x(i, 0) * host_x(i, 1);
      host_f(i, 1) = host_v(i, 0) - host_x(i, 2);
    }
    host_x(5, 1) = std::numeric_limits<double>::quiet_NaN();
    Kokkos::deep_copy(x, host_x);
    Kokkos::deep_copy(v, host_v);
    Kokkos::deep_copy(f, host_f);
  }

  View x, v, f;
};

struct Outcome {
  insitu::State samples{};
  insitu::State net{};
  insitu::State resumed{};
  std::vector<double> predicted{};
  insitu::TrainReport report{};
  double relative_error = 0.0;
  std::int64_t refused = 0;
};

/// Trains, saves, trains on; and once more from what was saved.
template <class Exec>
Outcome outcome_on() {
  const Exec exec = testing::make_exec<Exec>();
  const Fields<Exec> fields;
  const auto inputs = std::tuple(fields.x, fields.v);
  const insitu::Options options{.learning_rate = 1e-2, .dtype = DType::f64, .batch = 50};
  const insitu::MlpOptions network{.in = 4, .hidden = {16}, .out = 2};
  auto net = insitu::Surrogate::mlp(network, exec, options);
  auto reservoir = net.reservoir({.capacity = 120});
  reservoir.add(exec, inputs, fields.f);
  net.train(reservoir, {.max_steps = 10});
  const insitu::State saved = net.state();
  Outcome outcome;
  outcome.report = net.train(reservoir, {.max_steps = 10});
  outcome.relative_error = net.validate(reservoir).relative_error;
  outcome.samples = reservoir.state();
  outcome.net = net.state();
  outcome.refused = reservoir.refused();
  net.predict(exec, inputs, fields.f);
  exec.fence("zygos::test");
  const auto host = Kokkos::create_mirror_view(fields.f);
  Kokkos::deep_copy(host, fields.f);
  for (std::size_t i = 6; i < samples; ++i) {
    outcome.predicted.push_back(host(i, 0));
    outcome.predicted.push_back(host(i, 1));
  }
  auto again = insitu::Surrogate::mlp(network, exec, options);
  again.restore(saved);
  again.train(reservoir, {.max_steps = 10});
  outcome.resumed = again.state();
  return outcome;
}

/// Mean and spread of three networks, after some steps.
template <class Exec>
std::vector<double> ensemble_on() {
  const Exec exec = testing::make_exec<Exec>();
  const Fields<Exec> fields;
  const auto inputs = std::tuple(fields.x, fields.v);
  const Kokkos::View<double*, typename Exec::memory_space> spread("zygos::test::spread", samples);
  auto nets =
      insitu::Ensemble::mlp({.in = 4, .hidden = {16}, .out = 2}, exec, 3,
                            {.learning_rate = 1e-2, .dtype = DType::f64, .batch = 50, .block = 70});
  auto reservoir = nets.reservoir({.capacity = 120});
  reservoir.add(exec, inputs, fields.f);
  nets.train(reservoir, {.max_steps = 10});
  nets.predict(exec, inputs, fields.f, spread);
  exec.fence("zygos::test");
  const auto host_mean = Kokkos::create_mirror_view(fields.f);
  const auto host_spread = Kokkos::create_mirror_view(spread);
  Kokkos::deep_copy(host_mean, fields.f);
  Kokkos::deep_copy(host_spread, spread);
  std::vector<double> all;
  for (std::size_t i = 6; i < samples; ++i) {
    all.insert(all.end(), {host_mean(i, 0), host_mean(i, 1) / 1e3, host_spread(i)});
  }
  return all;
}

void check_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::abs(found[i] - wanted[i]));
    largest = std::max(largest, std::abs(wanted[i]));
  }
  CAPTURE(worst, largest);
  CHECK(std::isfinite(worst));
  CHECK(worst <= 1e-9 * largest);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A surrogate learns in the memory of every space", "", testing::AllSpaces) {
  const Outcome wanted = outcome_on<Kokkos::Serial>();

  const Outcome found = outcome_on<TestType>();

  for (const char* name : {"reservoir/owners", "reservoir/inputs", "reservoir/targets"}) {
    CHECK(test::numbers_of(found.samples, name) == test::numbers_of(wanted.samples, name));
  }
  check_near(test::numbers_of(found.samples, "reservoir/moments"),
             test::numbers_of(wanted.samples, "reservoir/moments"));
  CHECK(found.refused == 1);
  CHECK(found.report.steps == 10);
  CHECK(found.report.refused == 0);
  CHECK(std::abs(found.relative_error - wanted.relative_error) < 1e-6);
  check_near(test::numbers_of(found.net, "weights/output/kernel"),
             test::numbers_of(wanted.net, "weights/output/kernel"));
  check_near(found.predicted, wanted.predicted);
  CHECK(test::same(found.resumed, found.net));
}

TEMPLATE_LIST_TEST_CASE("An ensemble predicts the same in the memory of every space", "",
                        testing::AllSpaces) {
  const auto wanted = ensemble_on<Kokkos::Serial>();

  const auto found = ensemble_on<TestType>();

  check_near(found, wanted);
}

}  // namespace zygos::insitu::test_spaces
