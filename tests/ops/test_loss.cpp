// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/loss.hpp"
#include "reference/loss.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::ops {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_integer;
using testing::random_values;
using testing::rounded;

/// A loss's output memory.
template <class Exec, class T>
struct Outputs {
  Outputs(std::size_t samples, std::size_t columns, bool with_gradient = true)
      : losses(std::vector<double>(samples, 7.0)),
        hits(std::vector<double>(samples, 7.0)),
        gradient(samples * columns),
        totals(std::vector<double>{7.0, 7.0, 7.0}) {
    results.sample_losses = losses.vector();
    results.sample_hits = hits.vector();
    if (with_gradient) {
      results.d_prediction = gradient.matrix(samples, columns);
    }
    results.totals = totals.vector();
  }
  bool guards_intact() const {
    return losses.guards_intact() && hits.guards_intact() && gradient.guards_intact() &&
           totals.guards_intact();
  }

  Buffer<Exec, double> losses;
  Buffer<Exec, std::int32_t> hits;
  Buffer<Exec, T> gradient;
  Buffer<Exec, double> totals;
  LossResults<Exec, T> results;
};

std::vector<double> random_labels(std::size_t samples, std::size_t classes) {
  std::vector<double> labels;
  for (std::uint32_t n = 0; n < samples; ++n) {
    labels.push_back(
        static_cast<double>(random_integer(0, static_cast<std::int64_t>(classes) - 1, 9, n)));
  }
  return labels;
}

double total_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

struct Extents {
  std::size_t samples;
  std::size_t columns;
};
const std::vector<Extents> shapes{{0, 3},    {1, 1},    {1, 10},  {33, 7},
                                  {100, 10}, {1000, 3}, {5, 4097}};

}  // namespace

TEMPLATE_LIST_TEST_CASE("The cross-entropy of two samples is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Softmax of (0, log 3) is (1/4, 3/4); of (1, 1) it is (1/2, 1/2), and the first of equals
  // counts.
  const Buffer<Exec, T> logits(std::vector<double>{0.0, std::log(3.0), 1.0, 1.0});
  const Buffer<Exec, std::int32_t> labels(std::vector<double>{1, 1});
  const Outputs<Exec, T> out(2, 2);

  cross_entropy(exec, logits.const_matrix(2, 2), labels.const_vector(), 0.5, out.results);
  exec.fence("zygos::test");

  CHECK(difference(out.gradient.values(), {0.125, -0.125, 0.25, -0.25}, 4.0) == "");
  const auto losses = out.losses.values();
  CHECK(losses[0] == Catch::Approx(std::log(4.0 / 3.0)).epsilon(1e-6));
  CHECK(losses[1] == Catch::Approx(std::log(2.0)).epsilon(1e-6));
  CHECK(out.hits.values() == std::vector<std::int32_t>{1, 0});
  CHECK(out.totals.values()[0] == Catch::Approx(std::log(8.0 / 3.0)).epsilon(1e-6));
  CHECK(out.totals.values()[1] == 1.0);
}

TEMPLATE_LIST_TEST_CASE("The cross-entropy equals the reference", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, columns] : shapes) {
    auto values = random_values(samples * columns, 4);
    for (double& value : values) {
      value *= 8.0;
    }
    values = rounded<T>(values);
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, std::int32_t> labels(random_labels(samples, columns));
    const auto expected = reference::cross_entropy(columns, values, labels.values(), 0.01);
    const Outputs<Exec, T> out(samples, columns);
    const Outputs<Exec, T> blind(samples, columns, false);

    cross_entropy(exec, logits.const_matrix(samples, columns), labels.const_vector(), 0.01,
                  out.results);
    cross_entropy(exec, logits.const_matrix(samples, columns), labels.const_vector(), 0.01,
                  blind.results);
    exec.fence("zygos::test");

    CAPTURE(samples, columns);
    const auto losses = out.losses.values();
    CHECK(difference(std::vector<T>(losses.begin(), losses.end()), expected.losses, 8.0) == "");
    CHECK(difference(out.gradient.values(), expected.gradient, 1.0) == "");
    CHECK(out.hits.values() == expected.hits);
    CHECK(out.totals.values()[0] == Catch::Approx(total_of(losses)).epsilon(1e-12));
    CHECK(out.totals.values()[1] == std::accumulate(expected.hits.begin(), expected.hits.end(), 0));
    CHECK(blind.losses.values() == losses);
    CHECK((out.guards_intact() && blind.guards_intact()));
  }
}

namespace {

/// (samples, columns, positions) of (samples, positions, columns)
template <class T>
std::vector<T> classes_first(const std::vector<T>& values, std::size_t positions,
                             std::size_t columns) {
  std::vector<T> turned(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / columns;
    turned[(row / positions * columns + i % columns) * positions + row % positions] = values[i];
  }
  return turned;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Several labels of a sample count as their mean, wherever classes lie", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // As many positions as lie in a host's vectors, and fewer.
  const std::size_t positions = GENERATE(6U, 37U);
  for (const auto& [samples, columns] : shapes) {
    CAPTURE(samples, columns, positions);
    const std::size_t rows = samples * positions;
    const auto values = rounded<T>(random_values(rows * columns, 4));
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, T> images(classes_first(values, positions, columns));
    const Buffer<Exec, std::int32_t> labels(random_labels(rows, columns));
    const auto per_sample = static_cast<double>(positions);
    const auto expected =
        reference::cross_entropy(columns, values, labels.values(), 0.01 / per_sample);
    // One loss and hit for every label.
    Outputs<Exec, T> last(rows, columns);
    Outputs<Exec, T> first(rows, columns);
    last.results.d_prediction = last.gradient.matrix(samples, positions * columns);
    first.results.d_prediction = first.gradient.matrix(samples, positions * columns);

    cross_entropy(exec, logits.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, last.results);
    cross_entropy(exec, images.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, first.results, ClassOrder::first);
    exec.fence("zygos::test");

    CHECK(difference(last.gradient.values(), expected.gradient, 1.0) == "");
    CHECK(last.hits.values() == expected.hits);
    CHECK(last.totals.values()[0] ==
          Catch::Approx(total_of(expected.losses) / per_sample).epsilon(1e-6));
    CHECK(last.totals.values()[1] ==
          std::accumulate(expected.hits.begin(), expected.hits.end(), 0));
    CHECK(first.losses.values() == last.losses.values());
    CHECK(first.hits.values() == last.hits.values());
    CHECK(first.totals.values() == last.totals.values());
    CHECK(first.gradient.values() == classes_first(last.gradient.values(), positions, columns));
    CHECK((first.guards_intact() && last.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("The cross-entropy stays finite for any finite logits", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> logits(std::vector<double>{1e4, -1e4, 0, -1e4, -1e4, -1e4});
  const Buffer<Exec, std::int32_t> labels(std::vector<double>{1, 2});
  const Outputs<Exec, T> out(2, 3);

  cross_entropy(exec, logits.const_matrix(2, 3), labels.const_vector(), 1.0, out.results);
  exec.fence("zygos::test");

  CHECK(out.losses.values()[0] == 2e4);
  CHECK(out.losses.values()[1] == Catch::Approx(std::log(3.0)));
  CHECK(difference(out.gradient.values(), {1, -1, 0, 1 / 3.0, 1 / 3.0, -2 / 3.0}, 2.0) == "");
}

TEMPLATE_LIST_TEST_CASE("A NaN among the logits reaches the loss", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t where : {0U, 1U, 2U}) {
    std::vector<double> values{1.0, 2.0, 3.0};
    values[where] = std::nan("");
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, std::int32_t> labels(std::vector<double>{1});
    const Outputs<Exec, T> out(1, 3);

    cross_entropy(exec, logits.const_matrix(1, 3), labels.const_vector(), 1.0, out.results);
    exec.fence("zygos::test");

    CHECK(std::isnan(out.totals.values()[0]));
  }
}

TEMPLATE_LIST_TEST_CASE("Losses of elements are what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> prediction(std::vector<double>{3, -1, 2, 0, 0, 0});
  const Buffer<Exec, T> target(std::vector<double>{1, -1, 3, 1, 0.5, 0});
  const auto run = [&](ElementLoss which) {
    const Outputs<Exec, T> out(2, 3);
    element_loss(exec, which, prediction.const_matrix(2, 3), target.const_matrix(2, 3), 6.0,
                 out.results);
    exec.fence("zygos::test");
    return std::pair(out.losses.values(), out.gradient.values());
  };

  CHECK(run(ElementLoss::squared_error).first[0] == 5.0 / 3.0);
  CHECK(run(ElementLoss::squared_error).second == std::vector<T>{8, 0, -4, -4, -2, 0});
  CHECK(run(ElementLoss::absolute_error).first == std::vector<double>{1.0, 0.5});
  CHECK(run(ElementLoss::absolute_error).second == std::vector<T>{2, 0, -2, -2, -2, 0});
  // Logits of zero: log 2, whatever the target.
  CHECK(run(ElementLoss::binary_cross_entropy).first[1] == Catch::Approx(std::log(2.0)));
  CHECK(run(ElementLoss::binary_cross_entropy).second[3] == T(-1));
}

TEMPLATE_LIST_TEST_CASE("Losses of elements equal the reference", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const std::vector<std::pair<ElementLoss, decltype(&reference::mean_squared_error)>> losses{
      {ElementLoss::squared_error, &reference::mean_squared_error},
      {ElementLoss::absolute_error, &reference::mean_absolute_error},
      {ElementLoss::binary_cross_entropy, &reference::binary_cross_entropy}};
  for (const auto& [samples, columns] : shapes) {
    const auto values = rounded<T>(random_values(samples * columns, 1));
    auto wanted = random_values(samples * columns, 2);
    for (double& value : wanted) {
      value = 0.5 * value + 0.5;
    }
    wanted = rounded<T>(wanted);
    const Buffer<Exec, T> prediction(values);
    const Buffer<Exec, T> target(wanted);
    for (const auto& [which, judge] : losses) {
      const auto expected = judge(columns, values, wanted, 0.1);
      const Outputs<Exec, T> out(samples, columns);

      element_loss(exec, which, prediction.const_matrix(samples, columns),
                   target.const_matrix(samples, columns), 0.1, out.results);
      exec.fence("zygos::test");

      CAPTURE(samples, columns, static_cast<int>(which));
      CHECK(difference(out.losses.values(), expected.losses, 16.0) == "");
      CHECK(difference(out.gradient.values(), expected.gradient, 2.0) == "");
      CHECK(out.hits.values() == expected.hits);
      CHECK(out.totals.values()[0] == Catch::Approx(total_of(expected.losses)).epsilon(1e-12));
      CHECK(out.guards_intact());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("The binary cross-entropy stays finite for any finite logit", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> logits(std::vector<double>{1e4, -1e4, 1e4, -1e4});
  const Buffer<Exec, T> target(std::vector<double>{1, 0, 0, 1});
  const Outputs<Exec, T> out(4, 1);

  element_loss(exec, ElementLoss::binary_cross_entropy, logits.const_matrix(4, 1),
               target.const_matrix(4, 1), 1.0, out.results);
  exec.fence("zygos::test");

  CHECK(out.losses.values() == std::vector<double>{0, 0, 1e4, 1e4});
  CHECK(out.gradient.values() == std::vector<T>{0, 0, 1, -1});
  CHECK(out.hits.values() == std::vector<std::int32_t>{1, 1, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("A NaN in a prediction reaches a loss of elements", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> prediction(std::vector<double>{0.25, std::nan("")});
  const Buffer<Exec, T> target(std::vector<double>{0, 1});
  for (const ElementLoss which : {ElementLoss::squared_error, ElementLoss::absolute_error,
                                  ElementLoss::binary_cross_entropy}) {
    const Outputs<Exec, T> out(1, 2);

    element_loss(exec, which, prediction.const_matrix(1, 2), target.const_matrix(1, 2), 1.0,
                 out.results);
    exec.fence("zygos::test");

    CHECK(std::isnan(out.totals.values()[0]));
    CHECK(std::isnan(out.gradient.values()[1]));
  }
}

TEMPLATE_LIST_TEST_CASE("The Dice loss is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // (2 * 1 + 1) / (2 + 2 + 1), and one of two marked on each side in common; then nothing at all.
  const Buffer<Exec, T> prediction(std::vector<double>{0.75, 0.25, 1, 0, 0, 0});
  const Buffer<Exec, T> target(std::vector<double>{1, 1, 0, 0, 0, 0});
  const Outputs<Exec, T> out(2, 3);

  dice_loss(exec, 1.0, prediction.const_matrix(2, 3), target.const_matrix(2, 3), 0.5, out.results);
  exec.fence("zygos::test");

  CHECK(out.losses.values()[0] == Catch::Approx(0.4));
  CHECK(out.losses.values()[1] == 0.0);
  CHECK(difference(out.gradient.values(), {-0.14, -0.14, 0.06, 0.5, 0.5, 0.5}, 2.0) == "");
  CHECK(out.hits.values() == std::vector<std::int32_t>{500000, dice_hits});
  CHECK(out.totals.values()[1] == 1500000.0);
}

TEMPLATE_LIST_TEST_CASE("The Dice loss equals the reference", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, columns] : shapes) {
    auto values = random_values(samples * columns, 1);
    auto wanted = random_values(samples * columns, 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0.5 * values[i] + 0.5;
      wanted[i] = wanted[i] > 0.0 ? 1.0 : 0.0;
    }
    values = rounded<T>(values);
    const Buffer<Exec, T> prediction(values);
    const Buffer<Exec, T> target(wanted);
    const auto expected = reference::dice(columns, 0.5, values, wanted, 0.1);
    const Outputs<Exec, T> out(samples, columns);
    const Outputs<Exec, T> blind(samples, columns, false);

    // Named: nvcc does not see what a braced list in a template is of.
    const std::array all{out.results, blind.results};
    for (const auto& results : all) {
      dice_loss(exec, 0.5, prediction.const_matrix(samples, columns),
                target.const_matrix(samples, columns), 0.1, results);
    }
    exec.fence("zygos::test");

    CAPTURE(samples, columns);
    CHECK(difference(out.losses.values(), expected.losses, 16.0) == "");
    CHECK(difference(out.gradient.values(), expected.gradient, 2.0) == "");
    CHECK(out.hits.values() == expected.hits);
    CHECK(out.totals.values()[1] == std::accumulate(expected.hits.begin(), expected.hits.end(), 0));
    CHECK(blind.losses.values() == out.losses.values());
    CHECK((out.guards_intact() && blind.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("A NaN among probabilities reaches the Dice loss", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> prediction(std::vector<double>{0.25, std::nan("")});
  const Buffer<Exec, T> target(std::vector<double>{0, 1});
  const Outputs<Exec, T> out(1, 2);

  dice_loss(exec, 1.0, prediction.const_matrix(1, 2), target.const_matrix(1, 2), 1.0, out.results);
  exec.fence("zygos::test");

  CHECK(std::isnan(out.totals.values()[0]));
  CHECK(std::isnan(out.gradient.values()[0]));
}

TEST_CASE("Losses have the same bits for any number of threads") {
  using Exec = Kokkos::OpenMP;
  constexpr std::size_t samples = 1003;
  constexpr std::size_t columns = 11;
  const Buffer<Exec, float> logits(random_values(samples * columns, 3));
  const Buffer<Exec, std::int32_t> labels(random_labels(samples, columns));
  const auto bits = [&](int threads) {
    const Outputs<Exec, float> out(samples, columns);
    cross_entropy(make_exec<Exec>(threads), logits.const_matrix(samples, columns),
                  labels.const_vector(), 1.0, out.results);
    return std::pair(out.totals.values(), out.gradient.values());
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

}  // namespace zygos::ops
