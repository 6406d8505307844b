// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// lstm and gru; tests/nn/test_golden.cpp compares both with PyTorch.
#include "support/gradient_check.hpp"
#include "support/turned.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace zygos::nn::test_recurrent {
namespace {

using Catch::Matchers::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;
using Make = LayerPtr (*)(RecurrentOptions);

constexpr std::array<Make, 2> kinds{lstm, gru};

std::vector<std::vector<double>> results_of(const LayerRun& run) {
  std::vector<std::vector<double>> all{values_of(run.output), values_of(run.d_inputs[0])};
  for (const Tensor& gradient : run.d_parameters) {
    all.push_back(values_of(gradient));
  }
  return all;
}

std::vector<std::vector<double>> all_bits(Make make, int threads) {
  LayerRun run(make({.units = 37}), {Shape{9, 21}}, 50, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return results_of(run);
}

/// Elements (samples, positions, ...).
void turn(const Tensor& tensor, std::size_t samples, std::size_t positions) {
  std::ranges::copy(testing::turned(values_of(tensor), samples, positions), tensor.data<double>());
}

void copy(const Tensor& from, const Tensor& to, std::int64_t first = 0) {
  std::copy_n(from.data<double>() + first, to.size(), to.data<double>());
}

}  // namespace

TEST_CASE("The gradients of recurrent layers equal difference quotients") {
  for (const Make make : kinds) {
    for (std::uint64_t round = 0; round < 50; ++round) {
      const Shape shape{random_integer(1, 5, round, 0), random_integer(1, 4, round, 1)};
      const std::int64_t units = random_integer(1, 5, round, 2);
      const auto layer =
          make({.units = units, .sequences = round % 3 != 0, .reverse = round % 2 != 0});
      LayerRun run(layer, {shape}, random_integer(1, 4, round, 3), round);

      CAPTURE(layer->type(), round, units, shape.text());
      CHECK(check_layer_gradients(run) == "");
    }
  }
}

TEST_CASE("The gradients of a recurrent layer with more units than a register are right, too") {
  for (const Make make : kinds) {
    LayerRun run(make({.units = 19}), {Shape{3, 2}}, 2, 8);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("A recurrent layer of the last position is one of all, of which one is read") {
  for (const auto& [make, reverse] :
       {std::pair(Make(lstm), false), {lstm, true}, {gru, false}, {gru, true}}) {
    const std::int64_t batch = 5, length = 4, units = 7;
    const std::int64_t position = reverse ? 0 : length - 1;
    LayerRun all(make({.units = units, .reverse = reverse}), {Shape{length, 3}}, batch, 2);
    LayerRun last(make({.units = units, .sequences = false, .reverse = reverse}),
                  {Shape{length, 3}}, batch, 2);
    std::fill_n(all.d_output.data<double>(), all.d_output.size(), 0.0);
    for (std::int64_t n = 0; n < batch; ++n) {
      std::copy_n(last.d_output.data<double>() + n * units, units,
                  all.d_output.data<double>() + (n * length + position) * units);
    }
    all.forward();
    all.backward();
    last.forward();
    last.backward();

    for (std::int64_t n = 0; n < batch; ++n) {
      CHECK(std::equal(last.output.data<double>() + n * units,
                       last.output.data<double>() + (n + 1) * units,
                       all.output.data<double>() + (n * length + position) * units));
    }
    const auto found = results_of(last), expected = results_of(all);
    CHECK(std::equal(found.begin() + 1, found.end(), expected.begin() + 1, expected.end()));
  }
}

TEST_CASE("A recurrent layer in reverse is one over the reversed sequence") {
  for (const Make make : kinds) {
    for (const std::size_t length : {1U, 2U, 7U}) {
      for (const bool sequences : {true, false}) {
        CAPTURE(length, sequences);
        const Shape shape{static_cast<std::int64_t>(length), 3};
        LayerRun forward(make({.units = 18, .sequences = sequences}), {shape}, 5, 6);
        LayerRun reverse(make({.units = 18, .sequences = sequences, .reverse = true}), {shape}, 5,
                         6);
        turn(reverse.inputs[0], 5, length);
        turn(reverse.d_output, 5, sequences ? length : 1);
        forward.forward();
        forward.backward();
        reverse.forward();
        reverse.backward();
        turn(reverse.output, 5, sequences ? length : 1);
        turn(reverse.d_inputs[0], 5, length);

        const auto found = results_of(reverse), expected = results_of(forward);
        CHECK(found[0] == expected[0]);
        CHECK(found[1] == expected[1]);
        for (std::size_t parameter = 2; parameter < expected.size(); ++parameter) {
          CHECK_THAT(found[parameter],  // sums over the positions in another order
                     Approx(expected[parameter]).epsilon(1e-12).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("Samples of a recurrent layer have the same bits in a part of the batch") {
  for (const Make make : kinds) {
    const Shape shape{6, 10};
    LayerRun whole(make({.units = 24}), {shape}, 7, 3);
    LayerRun part(make({.units = 24}), {shape}, 3, 3);
    const std::int64_t before = 4;  // samples
    copy(whole.inputs[0], part.inputs[0], before * shape.size());
    copy(whole.d_output, part.d_output, before * 6 * 24);
    whole.forward();
    whole.backward();
    part.forward();
    part.backward();

    const auto y = values_of(whole.output), d_x = values_of(whole.d_inputs[0]);
    CHECK(values_of(part.output) == std::vector<double>(y.begin() + before * 6 * 24, y.end()));
    CHECK(values_of(part.d_inputs[0]) ==
          std::vector<double>(d_x.begin() + before * shape.size(), d_x.end()));
  }
}

TEST_CASE("Gradients of recurrent layers are added to those of earlier micro-batches") {
  for (const Make make : kinds) {
    LayerRun run(make({.units = 5}), {Shape{4, 3}}, 6, 9);
    run.forward();
    run.backward();
    const auto once = results_of(run);
    run.accumulates = true;
    run.backward();
    const auto twice = results_of(run);

    CHECK(twice[1] == once[1]);
    for (std::size_t parameter = 2; parameter < once.size(); ++parameter) {
      for (std::size_t i = 0; i < once[parameter].size(); ++i) {
        CHECK_THAT(twice[parameter][i], WithinRel(2.0 * once[parameter][i], 1e-12));
      }
    }
  }
}

TEST_CASE("Recurrent layers have the same bits for any number of threads") {
  for (const Make make : kinds) {
    const auto one = all_bits(make, 1);

    CHECK(all_bits(make, 2) == one);
    CHECK(all_bits(make, 3) == one);
    CHECK(all_bits(make, 4) == one);
  }
}

TEST_CASE("A recurrent layer in front has no input gradient, and one without samples gradients 0") {
  for (const Make make : kinds) {
    LayerRun run(make({.units = 5}), {Shape{4, 3}}, 6, 9);
    run.forward();
    run.backward();
    const auto expected = values_of(run.d_parameters[1]);
    run.d_inputs[0] = Tensor();
    run.backward();
    CHECK(values_of(run.d_parameters[1]) == expected);

    LayerRun empty(make({.units = 5}), {Shape{4, 3}}, 0, 9);
    empty.forward();
    empty.backward();
    for (const Tensor& gradient : empty.d_parameters) {
      CHECK(values_of(gradient) ==
            std::vector<double>(static_cast<std::size_t>(gradient.size()), 0.0));
    }
  }
}

TEST_CASE("A recurrent layer declares what it needs") {
  const std::array inputs{Shape{6, 10}};
  const auto layer = lstm({.units = 16});
  const auto parameters = layer->parameters(inputs);

  REQUIRE(parameters.size() == 4);
  CHECK(parameters[0].name == "input_kernel");
  CHECK(parameters[0].shape == Shape{10, 64});
  CHECK(parameters[0].init.scale == 0.25);
  CHECK(parameters[0].decay);
  CHECK(parameters[1].name == "recurrent_kernel");
  CHECK(parameters[1].shape == Shape{16, 64});
  CHECK(parameters[3].name == "recurrent_bias");
  CHECK(parameters[3].shape == Shape{64});
  CHECK_FALSE(parameters[3].decay);
  CHECK(gru({.units = 16})->parameters(inputs)[1].shape == Shape{16, 48});
  CHECK(layer->infer(inputs) == Shape{6, 16});
  CHECK(lstm({.units = 16, .sequences = false})->infer(inputs) == Shape{16});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].shape == Shape{5, 6, 64});
  CHECK(layer->workspace(5, inputs, DType::f32)[0].kept);
  const double products = 2.0 * 5 * 6 * 64;  // by row of a kernel
  const double forward = layer->forward_cost(5, inputs, DType::f32).flops;
  CHECK(forward > products * (10 + 16));
  const double backward = layer->backward_cost(5, inputs, DType::f32, false).flops;
  CHECK(layer->backward_cost(5, inputs, DType::f32, true).flops == backward + products * 10);
}

TEST_CASE("A recurrent layer refuses what it can't do") {
  CHECK_THROWS_WITH(lstm({.units = 0}),
                    ContainsSubstring("lstm: units is 0; it must be at least 1"));
  CHECK_THROWS_WITH(gru({.units = 0}), ContainsSubstring("gru: units is 0"));
  for (const Shape& shape : {Shape{12}, Shape{2, 3, 4}, Shape{0, 4}}) {
    CHECK_THROWS_WITH(
        gru({.units = 4})->infer(std::array{shape}),
        ContainsSubstring("is no sequence of vectors; it must be [length, features]"));
  }
  CHECK_THROWS_WITH(lstm({.units = 4})->require_bf16(std::array{Shape{3, 4}}),
                    ContainsSubstring("'lstm' have no bf16 yet"));
}

}  // namespace zygos::nn::test_recurrent
