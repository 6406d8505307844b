// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/loss_run.hpp"

#include "zygos/nn/losses.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace zygos::nn::test_losses {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_loss_gradient;
using testing::LossRun;
using testing::random_integer;

}  // namespace

TEST_CASE("The gradients of losses equal difference quotients") {
  for (std::uint64_t round = 0; round < 50; ++round) {
    const std::int64_t samples = random_integer(1, 9, round, 0);
    const std::int64_t columns = random_integer(1, 12, round, 1);

    CAPTURE(round, samples, columns);
    CHECK(check_loss_gradient(LossRun(cross_entropy(), samples, columns, round), samples + 3) ==
          "");
    for (const auto& loss : {mean_squared_error(), mean_absolute_error(), binary_cross_entropy()}) {
      CHECK(check_loss_gradient(LossRun(loss, samples, columns, round), 2 * samples) == "");
    }
    const LossRun masks(dice(), samples, columns, round);
    for (const Tensor& tensor : {masks.args.prediction, masks.args.target}) {
      std::transform(tensor.data<double>(), tensor.data<double>() + tensor.size(),
                     tensor.data<double>(), [](double x) { return 0.5 * x + 0.5; });
    }
    CHECK(check_loss_gradient(masks, 2 * samples) == "");
  }
}

namespace {

LossPtr soft_cross_entropy() {
  return cross_entropy({.label_smoothing = 0.2, .class_weights = {0.5, 3.0, 0.0, 1.0}});
}

}  // namespace

TEST_CASE("The gradients of smoothed labels and weighted classes equal difference quotients") {
  for (std::uint64_t round = 0; round < 20; ++round) {
    LossRun run(soft_cross_entropy(), 8, 4, round);
    CAPTURE(round);
    CHECK(check_loss_gradient(run, 11) == "");
    for (const Shape& prediction : {Shape{2, 4, 4}, Shape{2, 4, 2, 2}}) {
      run.args.prediction = run.args.prediction.reshaped(prediction);
      run.args.d_prediction = run.args.d_prediction.reshaped(prediction);
      run.args.target =
          run.args.target.reshaped(prediction.rank() == 3 ? Shape{2, 4} : Shape{2, 2, 2});
      CAPTURE(prediction.text());
      CHECK(check_loss_gradient(run, 5) == "");
    }
  }
}

TEST_CASE("A smoothed and weighted cross-entropy is what a pencil says") {
  LossRun run(cross_entropy({.label_smoothing = 0.5, .class_weights = {4.0, 2.0}}), 1, 2, 1);
  run.args.prediction.data<double>()[0] = 0.0;
  run.args.prediction.data<double>()[1] = std::log(3.0);  // probabilities 1/4 and 3/4
  run.args.target.data<std::int32_t>()[0] = 1;

  run.evaluate(1);

  // Of class 1: 2 (1/2 + 1/4) = 3/2, of class 0: 4 / 4 = 1.
  CHECK(run.total() == Catch::Approx(std::log(4.0) + 1.5 * std::log(4.0 / 3.0)));
  CHECK(run.args.d_prediction.data<double>()[0] == Catch::Approx(2.5 / 4.0 - 1.0));
  CHECK(run.args.d_prediction.data<double>()[1] == Catch::Approx(2.5 * 0.75 - 1.5));
}

TEST_CASE("A mean over samples does not depend on who else is in the batch") {
  const auto gradient_of = [](std::int64_t samples) {
    const LossRun run(soft_cross_entropy(), samples, 4, 3);
    run.evaluate(6);
    const auto* d = run.args.d_prediction.data<double>();
    return std::vector<double>(d, d + 4);
  };
  CHECK(gradient_of(1) == gradient_of(6));
}

TEST_CASE("Balanced weights make classes count alike") {
  const std::vector<std::int64_t> counts{6, 3, 0, 1};
  const auto weights = balanced_weights(counts);
  CHECK(weights == std::vector<double>{10.0 / 18.0, 10.0 / 9.0, 1.0, 10.0 / 3.0});
  CHECK(balanced_weights(std::vector<std::int64_t>{5, 5}) == std::vector<double>{1.0, 1.0});
}

TEST_CASE("Smoothing and class weights that make no sense are refused") {
  CHECK_THROWS_WITH(cross_entropy({.label_smoothing = 1.5}),
                    ContainsSubstring("label_smoothing is 1.5") && ContainsSubstring("in [0, 1]"));
  CHECK_THROWS_WITH(cross_entropy({.class_weights = {1.0, -2.0}}),
                    ContainsSubstring("class_weights[1] is -2"));
  CHECK_THROWS_WITH(cross_entropy({.class_weights = {0.0, 0.0}}), ContainsSubstring("above 0"));
  const auto weighted = cross_entropy({.class_weights = {1.0, 2.0, 3.0}});
  CHECK_NOTHROW(weighted->check(Shape{3}, Shape{}, 3));
  CHECK_NOTHROW(weighted->check(Shape{7, 3}, Shape{7}, 3));
  CHECK_THROWS_WITH(weighted->check(Shape{4}, Shape{}, 3),
                    ContainsSubstring("3 class_weights") && ContainsSubstring("has 4 outputs"));
  CHECK(cross_entropy({.label_smoothing = 0.1})->constants(Shape{3}).empty());
}

TEST_CASE("A score is a fraction of the best hits") {
  CHECK(cross_entropy()->score()->name == "accuracy");
  CHECK(cross_entropy()->score()->best == 1);
  CHECK(dice()->score()->name == "dice");
  CHECK(dice()->score()->best == 1000000);
  CHECK_FALSE(mean_squared_error()->score().has_value());
}

TEST_CASE("The gradients of cross-entropies of sequences and images equal difference quotients") {
  for (const Shape& prediction : {Shape{2, 4, 3}, Shape{2, 3, 2, 2}}) {
    LossRun run(cross_entropy(), 8, 3, 5);  // eight labels
    run.args.prediction = run.args.prediction.reshaped(prediction);
    run.args.d_prediction = run.args.d_prediction.reshaped(prediction);
    run.args.target =
        run.args.target.reshaped(prediction.rank() == 3 ? Shape{2, 4} : Shape{2, 2, 2});

    CAPTURE(prediction.text());
    CHECK(check_loss_gradient(run, 5) == "");
  }
}

TEST_CASE("A loss of no samples is zero") {
  for (const auto& loss : {cross_entropy(), mean_squared_error(), mean_absolute_error(),
                           binary_cross_entropy(), dice()}) {
    const LossRun run(loss, 0, 3, 1);

    run.evaluate(10);

    CHECK(run.args.totals.data<double>()[0] == 0.0);
    CHECK(run.args.totals.data<double>()[1] == 0.0);
  }
}

TEST_CASE("Evaluating alone writes no gradient") {
  for (const auto& loss : {cross_entropy(), mean_squared_error(), mean_absolute_error(),
                           binary_cross_entropy(), dice()}) {
    LossRun run(loss, 5, 3, 1);
    run.evaluate(5);
    const double expected = run.total();
    run.args.d_prediction = Tensor();

    run.evaluate(5);

    CHECK(run.total() == expected);
  }
}

TEST_CASE("Losses refuse targets that do not fit, and say what would") {
  CHECK_NOTHROW(cross_entropy()->check(Shape{10}, Shape{}, 10));
  CHECK_THROWS_WITH(cross_entropy()->check(Shape{10}, Shape{}, 11),
                    ContainsSubstring("has 11 classes") && ContainsSubstring("at least 11"));
  CHECK_THROWS_WITH(cross_entropy()->check(Shape{2, 5}, Shape{}, 10),
                    ContainsSubstring("one number per class"));
  CHECK_THROWS_WITH(cross_entropy()->check(Shape{10}, Shape{10}, 10),
                    ContainsSubstring("a sequence [T, K] with labels [T]"));
  CHECK_NOTHROW(cross_entropy()->check(Shape{7, 10}, Shape{7}, 10));
  CHECK_NOTHROW(cross_entropy()->check(Shape{10, 7, 5}, Shape{7, 5}, 10));
  CHECK_THROWS_AS(cross_entropy()->check(Shape{7, 10}, Shape{6}, 10), UsageError);
  CHECK_THROWS_AS(cross_entropy()->check(Shape{7, 5, 10}, Shape{7, 5}, 2), UsageError);
  CHECK_THROWS_WITH(cross_entropy()->check(Shape{10, 7, 5}, Shape{7, 5}, 12),
                    ContainsSubstring("has 10 outputs"));
  CHECK_THROWS_WITH(cross_entropy()->check(Shape{12, 10}, Shape{12}, 12),
                    ContainsSubstring("has 10 outputs"));
  CHECK(cross_entropy()->valid_per_sample(Shape{7, 5}) == 35);
  CHECK(mean_squared_error()->valid_per_sample(Shape{7, 5}) == 1);
  CHECK_FALSE(mean_absolute_error()->target_range().has_value());
  CHECK(binary_cross_entropy()->target_range()->least == 0.0);
  CHECK(binary_cross_entropy()->target_range()->most == 1.0);
  CHECK_THROWS_WITH(binary_cross_entropy()->check(Shape{6}, Shape{5}, 0),
                    ContainsSubstring("bce: the model's output has the shape [6]"));
  CHECK(dice()->target_range()->most == 1.0);
  CHECK_THROWS_WITH(dice()->check(Shape{6}, Shape{5}, 0), ContainsSubstring("dice: the model's"));
  CHECK_THROWS_WITH(dice(0.0), ContainsSubstring("smooth is 0"));
  CHECK_NOTHROW(mean_squared_error()->check(Shape{6}, Shape{2, 3}, 0));
  CHECK_THROWS_WITH(mean_squared_error()->check(Shape{6}, Shape{5}, 0),
                    ContainsSubstring("same number of elements"));
}

}  // namespace zygos::nn::test_losses
