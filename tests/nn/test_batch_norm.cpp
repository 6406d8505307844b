// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace zygos::nn::test_batch_norm {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

std::vector<std::vector<double>> all_bits(int threads) {
  LayerRun run(batch_norm({.group = 4}), {Shape{17, 6, 5}}, 10, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  std::vector<std::vector<double>> bits{values_of(run.output), values_of(run.d_inputs[0])};
  for (const Tensor& gradient : run.d_parameters) {
    bits.push_back(values_of(gradient));
  }
  return bits;
}

void fill(const Tensor& tensor, const std::vector<double>& values) {
  std::ranges::copy(values, tensor.data<double>());
}

}  // namespace

TEST_CASE("The gradients of a normalised batch equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::int64_t channels = random_integer(1, 4, round, 0);
    const Shape shape =
        round % 2 == 0 ? Shape{channels} : Shape{channels, random_integer(1, 4, round, 1), 3};
    // A group of two values is at +1 and -1 whatever they are: no slope to measure but epsilon's.
    const BatchNormOptions options{.group = round % 3 == 0 ? 0 : 3, .epsilon = 0.3};
    LayerRun run(batch_norm(options), {shape}, random_integer(1, 7, round, 2), round);

    CAPTURE(round, shape.text());
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Each channel of each group has mean zero and variance one") {
  LayerRun run(batch_norm({.group = 4, .epsilon = 1e-12}), {Shape{2, 25}}, 8, 7);
  fill(run.parameters[0], {1.0, 1.0});
  fill(run.parameters[1], {0.0, 0.0});
  run.forward();
  const auto y = values_of(run.output);

  for (std::size_t group = 0; group < 2; ++group) {
    for (std::size_t channel = 0; channel < 2; ++channel) {
      double sum = 0.0, squares = 0.0;
      for (std::size_t i = 0; i < 100; ++i) {
        const double value = y[((group * 4 + i / 25) * 2 + channel) * 25 + i % 25];
        sum += value;
        squares += value * value;
      }
      CHECK(std::abs(sum) < 1e-10);
      CHECK(std::abs(squares - 100.0) < 1e-8);
    }
  }
}

TEST_CASE("A frozen normalisation passes on the gradient of what it does in evaluation") {
  for (std::uint64_t round = 0; round < 10; ++round) {
    const Shape shape = round % 2 == 0 ? Shape{3} : Shape{2, 3, 2};
    LayerRun run(batch_norm({.group = round % 3 == 0 ? 0 : 3, .epsilon = 0.3}), {shape}, 7, round);
    run.mode = Mode::evaluate;
    for (std::int64_t channel = 0; channel < run.parameters[3].size(); ++channel) {
      run.parameters[3].data<double>()[channel] = 0.5 + static_cast<double>(channel);
    }
    run.forward();
    run.backward();
    const auto value = [&] {
      run.forward();
      const auto y = values_of(run.output);
      const auto weights = values_of(run.d_output);
      return std::inner_product(y.begin(), y.end(), weights.begin(), 0.0);
    };

    CAPTURE(round, shape.text());
    CHECK(testing::gradient_difference(run.inputs[0], run.d_inputs[0], value) == "");
  }
}

TEST_CASE("Running statistics move by their share of a batch's") {
  LayerRun run(batch_norm({.momentum = 0.25}), {Shape{1}}, 4, 1);
  run.global_batch = 4;
  fill(run.inputs[0], {1.0, 3.0, 5.0, 7.0});  // mean 4, unbiased variance 20 / 3
  fill(run.parameters[2], {2.0});
  fill(run.parameters[3], {1.0});
  run.forward();
  run.backward();

  CHECK(2.0 - values_of(run.d_parameters[2])[0] == Approx(0.75 * 2.0 + 0.25 * 4.0));
  CHECK(1.0 - values_of(run.d_parameters[3])[0] == Approx(0.75 * 1.0 + 0.25 * 20.0 / 3.0));
}

TEST_CASE(
    "The changes of running statistics by parts of a batch sum to the change by the whole batch") {
  const auto moved_by = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> calls) {
    std::vector<std::vector<double>> sums(4, std::vector<double>(3, 0.0));
    const LayerRun all(batch_norm({.group = 2}), {Shape{3, 5}}, 8, 11);
    for (const auto& [begin, end] : calls) {
      LayerRun part(batch_norm({.group = 2}), {Shape{3, 5}}, end - begin, 11);
      part.global_batch = 8;
      std::copy_n(all.inputs[0].data<double>() + begin * 15, (end - begin) * 15,
                  part.inputs[0].data<double>());
      std::copy_n(all.d_output.data<double>() + begin * 15, (end - begin) * 15,
                  part.d_output.data<double>());
      for (std::size_t i = 0; i < 4; ++i) {
        fill(part.parameters[i], values_of(all.parameters[i]));
      }
      part.forward();
      part.backward();
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
          sums[i][channel] += values_of(part.d_parameters[i])[channel];
        }
      }
    }
    return sums;
  };
  const auto whole = moved_by({{0, 8}});
  const auto parts = moved_by({{0, 2}, {2, 2}, {2, 8}});

  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      CAPTURE(i, channel);
      CHECK(parts[i][channel] == Approx(whole[i][channel]).epsilon(1e-12));
    }
  }
}

TEST_CASE("Evaluation normalises by the running statistics") {
  LayerRun run(batch_norm({.epsilon = 1e-12}), {Shape{2, 2}}, 1, 1);
  run.mode = Mode::evaluate;
  fill(run.inputs[0], {1.0, 2.0, 3.0, 4.0});
  fill(run.parameters[0], {1.0, 10.0});
  fill(run.parameters[1], {0.0, 0.5});
  fill(run.parameters[2], {1.0, 5.0});
  fill(run.parameters[3], {4.0, 0.25});
  run.forward();
  const auto y = values_of(run.output);

  CHECK(y[0] == Approx(0.0));
  CHECK(y[1] == Approx(0.5));
  CHECK(y[2] == Approx(-39.5));
  CHECK(y[3] == Approx(-19.5));
}

TEST_CASE("A normalised batch has the same bits for any number of threads") {
  const auto one = all_bits(1);

  CHECK(all_bits(2) == one);
  CHECK(all_bits(3) == one);
  CHECK(all_bits(4) == one);
}

TEST_CASE("A batch norm declares what it needs") {
  const std::array inputs{Shape{7, 12}};
  const auto layer = batch_norm({.group = 4});
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 4);
  CHECK(parameters[0].name == "gain");
  CHECK(parameters[0].shape == Shape{7});
  CHECK_FALSE(parameters[1].statistic);
  CHECK(parameters[2].statistic);
  CHECK(parameters[3].name == "running_variance");
  CHECK(parameters[3].init.value == 1.0);
  CHECK(layer->workspace(5, inputs, DType::f32)[0].shape == Shape{2, 7, 2});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].kept);
  CHECK(layer->samples_together() == 4);
  CHECK(layer->statistics(inputs) == 0);
  CHECK(batch_norm()->samples_together() == 1);
  CHECK(batch_norm()->statistics(inputs) == 14);
  CHECK(batch_norm({.deferred = true})->statistics(inputs) == 0);
}

TEST_CASE("A batch norm refuses what it can't do") {
  CHECK_THROWS_WITH(batch_norm({.epsilon = 0.0}), ContainsSubstring("epsilon is 0"));
  CHECK_THROWS_WITH(batch_norm({.momentum = 1.5}), ContainsSubstring("momentum is 1.5"));
  CHECK_THROWS_WITH(batch_norm({.group = -1}), ContainsSubstring("group is -1"));
  CHECK_THROWS_WITH(batch_norm({.group = 8, .deferred = true}),
                    ContainsSubstring("leave one of them out"));
  CHECK_THROWS_WITH(batch_norm()->infer(std::array{Shape{0, 3}}),
                    ContainsSubstring("has no channels"));
}

}  // namespace zygos::nn::test_batch_norm
