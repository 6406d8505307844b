// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/placement.hpp"
#include "simulation.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>

namespace zygos::test_reservoir {
using namespace zygos::test;
using insitu::Keep;
using insitu::Reservoir;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Reservoir reservoir_of(const Kokkos::OpenMP& exec, insitu::ReservoirOptions options) {
  return {exec, Shape{6}, Shape{2}, options};
}

/// Numbers of the samples that lie in the slots.
std::vector<double> owners(const Reservoir& reservoir) {
  return numbers_of(reservoir.state(), "reservoir/owners");
}

/// Samples numbered by their only input.
Matrix<double> numbered(std::size_t count, std::size_t first = 0) {
  Matrix<double> view("zygos::test::numbered", count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    view(i, 0) = static_cast<double>(first + i);
  }
  return view;
}

}  // namespace

TEST_CASE("A reservoir with room keeps what the Views hold, of any layout and type", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> rows(50);
  const Particles<double, Kokkos::LayoutLeft> columns(50);
  const Particles<float> floats(50);
  const auto kept_by = [&](const auto& particles) {
    auto reservoir = reservoir_of(exec, {.capacity = 50, .validate_every = 0});
    reservoir.add(exec, particles.inputs(), particles.f);
    return reservoir.state();
  };

  const insitu::State state = kept_by(rows);

  const auto inputs = numbers_of(state, "reservoir/inputs");
  const auto targets = numbers_of(state, "reservoir/targets");
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(inputs[6 * i + k] == rows.x(i, k));
      CHECK(inputs[6 * i + 3 + k] == rows.v(i, k));
    }
    CHECK(targets[2 * i] == rows.f(i, 0));
    CHECK(targets[2 * i + 1] == rows.f(i, 1));
  }
  CHECK(same(state, kept_by(columns)));
  CHECK(numbers_of(kept_by(floats), "reservoir/targets")[5] == static_cast<double>(floats.f(2, 1)));
}

TEST_CASE("Strided subviews and images are gathered where they lie", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  const Kokkos::View<double****, Kokkos::LayoutLeft, Kokkos::HostSpace> fields(
      "zygos::test::fields", 7, 2, 3, 5);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields.data()[i] = static_cast<double>(i);
  }
  const auto images =
      Kokkos::subview(fields, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL, std::pair(1, 4));
  const auto one = Kokkos::subview(fields, Kokkos::ALL, 1, 2, 4);
  Reservoir reservoir(exec, Shape{2, 3, 3}, Shape{1}, {.capacity = 7, .validate_every = 0});

  reservoir.add(exec, images, one);

  const auto inputs = numbers_of(reservoir.state(), "reservoir/inputs");
  const auto targets = numbers_of(reservoir.state(), "reservoir/targets");
  for (std::size_t n = 0; n < 7; ++n) {
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t w = 0; w < 3; ++w) {
          CHECK(inputs[((n * 2 + c) * 3 + h) * 3 + w] == fields(n, c, h, w + 1));
        }
      }
    }
    CHECK(targets[n] == fields(n, 1, 2, 4));
  }
}

TEST_CASE("What a reservoir keeps depends neither on calls nor on threads", "[insitu]") {
  const auto keep = GENERATE(Keep::uniform, Keep::newest);
  const Particles<double> particles(2000);
  const insitu::ReservoirOptions options{.capacity = 100, .validate_every = 7, .keep = keep};
  const auto added_in = [&](std::size_t step, int threads) {
    const Kokkos::OpenMP exec(threads);
    auto reservoir = reservoir_of(exec, options);
    for (std::size_t begin = 0; begin < 2000; begin += step) {
      const auto [inputs, f] = particles.part(begin, std::min<std::size_t>(begin + step, 2000));
      reservoir.add(exec, inputs, f);
    }
    return reservoir.state();
  };

  const insitu::State at_once = added_in(2000, 4);

  for (const std::size_t step : {1U, 13U, 700U}) {
    const insitu::State cut = added_in(step, 1);
    for (const char* name : {"reservoir/owners", "reservoir/inputs", "reservoir/targets"}) {
      CHECK(numbers_of(cut, name) == numbers_of(at_once, name));
    }
  }
  CHECK(same(at_once, added_in(2000, 1)));
}

TEST_CASE("Every sample has the same chance to stay", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  constexpr std::size_t seen = 1000;
  constexpr int runs = 400;
  std::vector<double> kept(10, 0.0);  // by tenth of the samples
  for (int run = 0; run < runs; ++run) {
    Reservoir reservoir(
        exec, Shape{1}, Shape{1},
        {.capacity = 50, .validate_every = 0, .seed = static_cast<std::uint64_t>(run)});
    reservoir.add(exec, numbered(seen), numbered(seen));
    for (const double owner : owners(reservoir)) {
      kept[static_cast<std::size_t>(owner) / 100] += 1.0;
    }
  }

  // 2000 expected in each tenth; the standard deviation of a binomial is below 45.
  for (const double count : kept) {
    CHECK(std::abs(count - 2000.0) < 4.0 * 45.0);
  }
}

TEST_CASE("A reservoir of the newest samples holds them", "[insitu]") {
  const Kokkos::OpenMP exec(1);
  Reservoir reservoir(exec, Shape{1}, Shape{1},
                      {.capacity = 20, .validate_every = 0, .keep = Keep::newest});

  reservoir.add(exec, numbered(95), numbered(95));

  auto numbers = owners(reservoir);
  std::ranges::sort(numbers);
  CHECK(numbers.front() == 75.0);
  CHECK(numbers.back() == 94.0);
}

TEST_CASE("One sample of so many is held out, and none is trained on and held out", "[insitu]") {
  const insitu::Placement placement{1000, 120, 10, Keep::uniform, 5};
  std::int64_t held_out = 0;
  std::set<std::int64_t> positions;
  std::set<std::int64_t> slots;
  for (std::int64_t number = 0; number < 1000; ++number) {
    CHECK(placement.validated_of(number) == held_out);
    const std::int64_t slot = placement.slot_of(number);
    CHECK(slots.insert(slot).second);
    CHECK((slot >= 1000) == placement.validates(number));
    if (placement.validates(number)) {
      ++held_out;
      positions.insert(number % 10);
    }
  }

  CHECK(held_out == 100);
  CHECK(positions.size() == 10);
}

TEST_CASE("A sample that is not finite is left out and counted", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  Particles<double> particles(40);
  particles.x(7, 1) = not_a_number;
  particles.f(11, 0) = std::numeric_limits<double>::infinity();
  auto reservoir = reservoir_of(exec, {.capacity = 40, .validate_every = 0});

  reservoir.add(exec, particles.inputs(), particles.f);

  CHECK(reservoir.refused() == 2);
  CHECK(reservoir.seen() == 40);
  const auto numbers = owners(reservoir);
  CHECK(numbers[7] == -1.0);
  CHECK(numbers[11] == -1.0);
  CHECK(std::ranges::count(numbers, -1.0) == 2);
  for (const double value : numbers_of(reservoir.state(), "reservoir/moments")) {
    CHECK(std::isfinite(value));
  }
}

TEST_CASE("Mean and variance are those of all samples that were added", "[insitu]") {
  const Kokkos::OpenMP exec(3);
  const Particles<double> particles(5000);
  auto reservoir = reservoir_of(exec, {.capacity = 10});
  for (std::size_t begin = 0; begin < 5000; begin += 1234) {
    const auto [inputs, f] = particles.part(begin, std::min<std::size_t>(begin + 1234, 5000));
    reservoir.add(exec, inputs, f);
  }

  const auto moments = numbers_of(reservoir.state(), "reservoir/moments");

  const auto check = [&](std::size_t column, const auto& value_of) {
    double mean = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < 5000; ++i) {
      mean += value_of(i) / 5000.0;
    }
    for (std::size_t i = 0; i < 5000; ++i) {
      squares += (value_of(i) - mean) * (value_of(i) - mean);
    }
    CHECK(moments[3 * column] == 5000.0);
    CHECK(moments[3 * column + 1] == Catch::Approx(mean).epsilon(1e-12).margin(1e-12));
    CHECK(moments[3 * column + 2] == Catch::Approx(squares).epsilon(1e-10));
  };
  check(1, [&](std::size_t i) { return particles.x(i, 1); });
  check(5, [&](std::size_t i) { return particles.v(i, 2); });
  check(7, [&](std::size_t i) { return particles.f(i, 1); });
}

TEST_CASE("A reservoir refuses what it cannot be or take", "[insitu]") {
  using Catch::Matchers::ContainsSubstring;
  using Catch::Matchers::MessageMatches;
  const Kokkos::OpenMP exec(1);
  const Particles<double> particles(8);
  auto reservoir = reservoir_of(exec, {.capacity = 8});

  CHECK_THROWS_MATCHES(reservoir_of(exec, {}), UsageError,
                       MessageMatches(ContainsSubstring("capacity 0")));
  CHECK_THROWS_MATCHES(reservoir_of(exec, {.capacity = 8, .validate_every = 1}), UsageError,
                       MessageMatches(ContainsSubstring("validate_every 1")));
  CHECK_THROWS_MATCHES(reservoir_of(exec, {.capacity = 8, .stored = DType::bf16}), UsageError,
                       MessageMatches(ContainsSubstring("f32 or f64")));
  CHECK_THROWS_MATCHES(reservoir.add(exec, particles.x, particles.f), UsageError,
                       MessageMatches(ContainsSubstring("3 numbers a sample, the network 6")));
  CHECK_THROWS_MATCHES(reservoir.add(exec, particles.inputs(), Particles<double>(9).f), UsageError,
                       MessageMatches(ContainsSubstring("same first dimension")));
  CHECK(reservoir.seen() == 0);
}

TEST_CASE("A restored reservoir goes on with the bits of an undisturbed one", "[insitu]") {
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(600);
  const insitu::ReservoirOptions options{.capacity = 100};
  auto undisturbed = reservoir_of(exec, options);
  const auto [first, first_f] = particles.part(0, 300);
  const auto [second, second_f] = particles.part(300, 600);
  undisturbed.add(exec, first, first_f);
  const auto bytes = to_bytes(undisturbed.state());
  undisturbed.add(exec, second, second_f);
  auto restored = reservoir_of(exec, options);

  restored.restore(insitu::from_bytes(bytes));
  restored.add(exec, second, second_f);

  CHECK(same(restored.state(), undisturbed.state()));
  auto other = reservoir_of(exec, {.capacity = 100, .seed = 2});
  CHECK_THROWS_AS(other.restore(insitu::from_bytes(bytes)), CheckpointError);
}

}  // namespace zygos::test_reservoir
