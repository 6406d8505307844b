// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses of elements and of Dice.
#include "ops/loss/loss.hpp"
#include "reference/loss.hpp"
#include "support/kernel_case.hpp"
#include "support/loss_outputs.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace zygos::ops::test_loss {

using testing::Buffer;
using testing::difference;
using testing::LossOutputs;
using testing::make_exec;
using testing::random_values;
using testing::rounded;
using testing::total_of;

TEMPLATE_LIST_TEST_CASE("Losses of elements are what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> prediction(std::vector<double>{3, -1, 2, 0, 0, 0});
  const Buffer<Exec, T> target(std::vector<double>{1, -1, 3, 1, 0.5, 0});
  const auto run = [&](ElementLoss which) {
    const LossOutputs<Exec, T> out(2, 3);
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
  for (const auto& [samples, columns] : testing::loss_shapes) {
    const auto values = rounded<T>(random_values(samples * columns, 1));
    auto wanted = random_values(samples * columns, 2);
    for (double& value : wanted) {
      value = 0.5 * value + 0.5;
    }
    wanted = rounded<T>(wanted);
    const Buffer<Exec, T> prediction(values);
    const Buffer<Exec, T> target(wanted);
    for (const auto& [which, reference] : losses) {
      const auto expected = reference(columns, values, wanted, 0.1);
      const LossOutputs<Exec, T> out(samples, columns);

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
  const LossOutputs<Exec, T> out(4, 1);

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
    const LossOutputs<Exec, T> out(1, 2);

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
  const LossOutputs<Exec, T> out(2, 3);

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
  for (const auto& [samples, columns] : testing::loss_shapes) {
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
    const LossOutputs<Exec, T> out(samples, columns);
    const LossOutputs<Exec, T> blind(samples, columns, false);

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
  const LossOutputs<Exec, T> out(1, 2);

  dice_loss(exec, 1.0, prediction.const_matrix(1, 2), target.const_matrix(1, 2), 1.0, out.results);
  exec.fence("zygos::test");

  CHECK(std::isnan(out.totals.values()[0]));
  CHECK(std::isnan(out.gradient.values()[0]));
}

}  // namespace zygos::ops::test_loss
