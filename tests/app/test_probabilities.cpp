// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/probabilities.hpp"

#include "zygos/nn/losses.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

namespace zygos::app::test_probabilities {

using Catch::Approx;

TEST_CASE("Probabilities of a sample's classes are the softmax of its logits, however large") {
  const auto softmax = Probabilities::of(*nn::cross_entropy(), Shape{3});
  REQUIRE(softmax.has_value());
  std::vector<double> outputs{std::log(1.0), std::log(2.0), std::log(5.0),  //
                              1000.0,        1000.0,        -1000.0};

  softmax->replace(outputs.data(), 2);

  CHECK(outputs[0] == Approx(0.125));
  CHECK(outputs[1] == Approx(0.25));
  CHECK(outputs[2] == Approx(0.625));
  CHECK(outputs[3] == Approx(0.5));
  CHECK(outputs[4] == Approx(0.5));
  CHECK(outputs[5] == 0.0);
}

TEST_CASE("Each position of a sequence and of an image has probabilities of its own") {
  std::vector<float> steps{0.0F, 0.0F, 0.0F, std::log(3.0F)};  // (2 steps, 2 classes)
  std::vector<float> image{0.0F, 0.0F, 0.0F, std::log(3.0F)};  // (2 classes, 1, 2)

  Probabilities::of(*nn::cross_entropy(), Shape{2, 2})->replace(steps.data(), 1);
  Probabilities::of(*nn::cross_entropy(), Shape{2, 1, 2})->replace(image.data(), 1);

  CHECK(steps[0] == Approx(0.5));
  CHECK(steps[2] == Approx(0.25));
  CHECK(steps[3] == Approx(0.75));
  CHECK(image[0] == Approx(0.5));
  CHECK(image[1] == Approx(0.25));
  CHECK(image[2] == Approx(0.5));
  CHECK(image[3] == Approx(0.75));
}

TEST_CASE("In front of bce every logit is a probability, and other losses have none") {
  std::vector<double> outputs{0.0, std::log(4.0), -1000.0};

  Probabilities::of(*nn::binary_cross_entropy(), Shape{3})->replace(outputs.data(), 1);

  CHECK(outputs[0] == 0.5);
  CHECK(outputs[1] == Approx(0.8));
  CHECK(outputs[2] == 0.0);
  CHECK_FALSE(Probabilities::of(*nn::mean_squared_error(), Shape{3}).has_value());
  CHECK_FALSE(Probabilities::of(*nn::dice(), Shape{4}).has_value());
}

}  // namespace zygos::app::test_probabilities
