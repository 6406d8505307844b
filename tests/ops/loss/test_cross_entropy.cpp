// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/launch.hpp"
#include "ops/loss/cross_entropy_team.hpp"
#include "ops/loss/loss.hpp"
#include "reference/loss.hpp"
#include "support/kernel_case.hpp"
#include "support/loss_outputs.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::ops::test_cross_entropy {

using testing::Buffer;
using testing::difference;
using testing::LossOutputs;
using testing::make_exec;
using testing::random_labels;
using testing::random_values;
using testing::rounded;
using testing::total_of;

TEMPLATE_LIST_TEST_CASE("The cross-entropy of two samples is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // Softmax of (0, log 3) is (1/4, 3/4); of (1, 1) it is (1/2, 1/2), and the first of equals
  // counts.
  const Buffer<Exec, T> logits(std::vector<double>{0.0, std::log(3.0), 1.0, 1.0});
  const Buffer<Exec, std::int32_t> labels(std::vector<double>{1, 1});
  const LossOutputs<Exec, T> out(2, 2);

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
  for (const auto& [samples, columns] : testing::loss_shapes) {
    auto values = random_values(samples * columns, 4);
    for (double& value : values) {
      value *= 8.0;
    }
    values = rounded<T>(values);
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, std::int32_t> labels(random_labels(samples, columns));
    const auto expected = reference::cross_entropy(columns, values, labels.values(), 0.01);
    const LossOutputs<Exec, T> out(samples, columns);
    const LossOutputs<Exec, T> blind(samples, columns, false);

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

TEMPLATE_LIST_TEST_CASE("A device's team for each label finds the same as a host's thread", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, columns] : testing::loss_shapes) {
    CAPTURE(samples, columns);
    const auto values = rounded<T>(random_values(samples * columns, 4));
    const Buffer<Exec, T> logits(values);
    auto classes = random_labels(samples, columns);
    if (samples > 2) {
      classes[1] = -1.0;  // left out
    }
    const Buffer<Exec, std::int32_t> labels(classes);
    const LossOutputs<Exec, T> thread(samples, columns);
    const LossOutputs<Exec, T> team(samples, columns);
    const CrossEntropyTeam<T> kernel{
        {logits.data(), labels.data(), columns, 1, 0.01, team.results.sample_losses.data(),
         team.results.sample_hits.data(), team.results.d_prediction.data()}};

    cross_entropy(exec, logits.const_matrix(samples, columns), labels.const_vector(), 0.01,
                  thread.results);
    for_each_row("zygos::test", exec, samples, columns, kernel);
    exec.fence("zygos::test");

    const auto expected = thread.gradient.values();
    CHECK(difference(team.gradient.values(), {expected.begin(), expected.end()}, 1.0) == "");
    const auto losses = team.losses.values();
    CHECK(difference(std::vector<T>(losses.begin(), losses.end()), thread.losses.values(), 64.0) ==
          "");
    CHECK(team.hits.values() == thread.hits.values());
    CHECK(team.guards_intact());
  }
}

namespace {

/// (samples, columns, positions) of (samples, positions, columns)
template <class T>
std::vector<T> classes_first(const std::vector<T>& values, std::size_t positions,
                             std::size_t columns) {
  std::vector<T> transposed(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / columns;
    transposed[(row / positions * columns + i % columns) * positions + row % positions] = values[i];
  }
  return transposed;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("Several labels of a sample count as their mean, wherever classes lie", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  // As many positions as lie in a host's vectors, and fewer.
  const std::size_t positions = GENERATE(6U, 37U);
  for (const auto& [samples, columns] : testing::loss_shapes) {
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
    LossOutputs<Exec, T> last(rows, columns);
    LossOutputs<Exec, T> first(rows, columns);
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
    CHECK(first.hits.values() == last.hits.values());
    if constexpr (HostSpace<Exec>) {  // a device's team sums many classes in another order
      CHECK(first.losses.values() == last.losses.values());
      CHECK(first.totals.values() == last.totals.values());
    } else {
      const auto losses = first.losses.values();
      CHECK(difference(std::vector<T>(losses.begin(), losses.end()), last.losses.values(), 64.0) ==
            "");
    }
    CHECK(first.gradient.values() == classes_first(last.gradient.values(), positions, columns));
    CHECK((first.guards_intact() && last.guards_intact()));
  }
}

TEMPLATE_LIST_TEST_CASE("Smoothed labels and weighted classes equal the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const double smoothing = GENERATE(0.0, 0.1);
  for (const auto& [samples, columns] : testing::loss_shapes) {
    CAPTURE(smoothing, samples, columns);
    constexpr std::size_t positions = 5;
    const std::size_t rows = samples * positions;
    const auto values = rounded<T>(random_values(rows * columns, 4));
    auto weights = random_values(columns, 5);
    std::ranges::for_each(weights, [](double& weight) { weight += 1.5; });
    const Buffer<Exec, double> held(weights);
    const SoftTargets<Exec> targets{smoothing, held.const_vector(), total_of(weights)};
    const Buffer<Exec, std::int32_t> labels(random_labels(rows, columns));
    const auto expected = reference::cross_entropy(columns, values, labels.values(),
                                                   0.01 / positions, smoothing, weights);
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, T> images(classes_first(values, positions, columns));
    LossOutputs<Exec, T> last(rows, columns), first(rows, columns), team(rows, columns);
    last.results.d_prediction = last.gradient.matrix(samples, positions * columns);
    first.results.d_prediction = first.gradient.matrix(samples, positions * columns);
    const CrossEntropyTeam<T> kernel{{logits.data(), labels.data(), columns, 1, 0.01 / positions,
                                      team.results.sample_losses.data(),
                                      team.results.sample_hits.data(), team.gradient.data(),
                                      smoothing, held.data(), targets.weight_sum}};

    cross_entropy(exec, logits.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, last.results, ClassOrder::last, targets);
    cross_entropy(exec, images.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, first.results, ClassOrder::first, targets);
    for_each_row("zygos::test", exec, rows, columns, kernel);
    exec.fence("zygos::test");

    // Named: nvcc does not see what a braced list in a template is of.
    const std::array all{&last, &first, &team};
    for (const auto* out : all) {
      const auto losses = out->losses.values();
      CHECK(difference(std::vector<T>(losses.begin(), losses.end()), expected.losses, 64.0) == "");
      CHECK(out->hits.values() == expected.hits);
      CHECK(out->guards_intact());
    }
    CHECK(difference(last.gradient.values(), expected.gradient, 1.0) == "");
    CHECK(difference(team.gradient.values(), expected.gradient, 1.0) == "");
    CHECK(difference(first.gradient.values(), classes_first(expected.gradient, positions, columns),
                     1.0) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("Weights of one change no bit", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const ClassOrder order = GENERATE(ClassOrder::last, ClassOrder::first);
  constexpr std::size_t rows = 60, columns = 37;
  const Buffer<Exec, T> logits(random_values(rows * columns, 4));
  const Buffer<Exec, std::int32_t> labels(random_labels(rows, columns));
  const Buffer<Exec, double> ones(std::vector<double>(columns, 1.0));
  const SoftTargets<Exec> targets{0.0, ones.const_vector(), 37.0};
  LossOutputs<Exec, T> plain(rows, columns), weighted(rows, columns);
  plain.results.d_prediction = plain.gradient.matrix(10, 6 * columns);
  weighted.results.d_prediction = weighted.gradient.matrix(10, 6 * columns);

  const auto matrix = logits.const_matrix(10, 6 * columns);
  cross_entropy(exec, matrix, labels.const_vector(), 0.1, plain.results, order);
  cross_entropy(exec, matrix, labels.const_vector(), 0.1, weighted.results, order, targets);
  exec.fence("zygos::test");

  CHECK(weighted.losses.values() == plain.losses.values());
  CHECK(weighted.gradient.values() == plain.gradient.values());
}

TEMPLATE_LIST_TEST_CASE("The cross-entropy stays finite for any finite logits", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> logits(std::vector<double>{1e4, -1e4, 0, -1e4, -1e4, -1e4});
  const Buffer<Exec, std::int32_t> labels(std::vector<double>{1, 2});
  const LossOutputs<Exec, T> out(2, 3);

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
    const LossOutputs<Exec, T> out(1, 3);

    cross_entropy(exec, logits.const_matrix(1, 3), labels.const_vector(), 1.0, out.results);
    exec.fence("zygos::test");

    CHECK(std::isnan(out.totals.values()[0]));
  }
}

TEST_CASE("A cross-entropy has the same bits for any number of threads") {
  using Exec = Kokkos::OpenMP;
  constexpr std::size_t samples = 1003;
  constexpr std::size_t columns = 11;
  const Buffer<Exec, float> logits(random_values(samples * columns, 3));
  const Buffer<Exec, std::int32_t> labels(random_labels(samples, columns));
  const auto bits = [&](int threads) {
    const LossOutputs<Exec, float> out(samples, columns);
    cross_entropy(make_exec<Exec>(threads), logits.const_matrix(samples, columns),
                  labels.const_vector(), 1.0, out.results);
    return std::pair(out.totals.values(), out.gradient.values());
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

TEMPLATE_LIST_TEST_CASE(
    "Labels below zero are not valid, and a sample's loss is the mean of the rest", "",
    testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, columns] : testing::loss_shapes) {
    constexpr std::size_t positions = 6;
    CAPTURE(samples, columns);
    const std::size_t rows = samples * positions;
    const auto values = rounded<T>(random_values(rows * columns, 4));
    // Of sample n, 1 + n % 6 positions are valid.
    std::vector<double> given = random_labels(rows, columns);
    const auto valid = [&](std::size_t row) { return row % positions <= row / positions % 6; };
    const Buffer<Exec, std::int32_t> all(given);
    auto expected = reference::cross_entropy(columns, values, all.values(), 0.01);
    double loss = 0.0, hits = 0.0, count = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
      const double share = valid(row) ? 1.0 / static_cast<double>(1 + row / positions % 6) : 0.0;
      given[row] = valid(row) ? given[row] : -1.0 - static_cast<double>(row % 2);
      loss += share * expected.losses[row];
      hits += valid(row) ? expected.hits[row] : 0;
      count += valid(row) ? 1.0 : 0.0;
      for (std::size_t k = 0; k < columns; ++k) {
        expected.gradient[row * columns + k] *= share;
      }
    }
    const Buffer<Exec, T> logits(values);
    const Buffer<Exec, std::int32_t> labels(given);
    LossOutputs<Exec, T> out(rows, columns);
    out.results.d_prediction = out.gradient.matrix(samples, positions * columns);

    cross_entropy(exec, logits.const_matrix(samples, positions * columns), labels.const_vector(),
                  0.01, out.results);
    exec.fence("zygos::test");

    CHECK(difference(out.gradient.values(), expected.gradient, 1.0) == "");
    CHECK(out.totals.values()[0] == Catch::Approx(loss).epsilon(1e-6));
    CHECK(out.totals.values()[1] == hits);
    CHECK(out.totals.values()[2] == count);
    CHECK(out.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE(
    "Outputs without a valid label may be NaN, and the first of equal classes is the hit", "",
    testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const ClassOrder order = GENERATE(ClassOrder::last, ClassOrder::first);
  constexpr std::size_t positions = 19;
  constexpr std::size_t classes = 3;
  // All logits are equal; every third position is not valid, the others have labels 0 or 1.
  std::vector<double> values, given, expected;
  for (std::size_t i = 0; i < positions; ++i) {
    given.push_back(i % 3 == 0 ? -1.0 : static_cast<double>(i % 2));
  }
  for (std::size_t i = 0; i < positions * classes; ++i) {
    const std::size_t position = order == ClassOrder::last ? i / classes : i % positions;
    const std::size_t k = order == ClassOrder::last ? i % classes : i / positions;
    const bool valid = given[position] >= 0.0;
    values.push_back(valid ? 2.0 : std::nan(""));
    const double one = static_cast<double>(k) == given[position] ? 1.0 : 0.0;
    expected.push_back(valid ? (1.0 / 3.0 - one) / 12.0 : 0.0);
  }
  const Buffer<Exec, T> logits(values);
  const Buffer<Exec, std::int32_t> labels(given);
  LossOutputs<Exec, T> out(positions, classes);
  out.results.d_prediction = out.gradient.matrix(1, values.size());

  cross_entropy(exec, logits.const_matrix(1, values.size()), labels.const_vector(), 1.0,
                out.results, order);
  exec.fence("zygos::test");

  CHECK(difference(out.gradient.values(), expected, 1.0) == "");
  CHECK(out.totals.values()[0] == Catch::Approx(std::log(3.0)).epsilon(1e-6));
  CHECK(out.totals.values()[2] == 12.0);
  const auto found = out.hits.values();
  for (std::size_t i = 0; i < positions; ++i) {
    CHECK(found[i] == (given[i] < 0.0 ? -1 : given[i] == 0.0 ? 1 : 0));
  }
  CHECK(out.guards_intact());
}

}  // namespace zygos::ops::test_cross_entropy
