// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>
#include <vector>

namespace zygos::nn::test_conv2d {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients;
using testing::LayerRun;
using testing::random_integer;
using testing::values_of;

constexpr std::array fusable{Activation::none, Activation::tanh, Activation::sigmoid};

Conv2dOptions random_options(std::uint64_t round) {
  const auto pair = [&](std::int64_t least, std::int64_t most, std::uint32_t at) {
    return AxisPair{random_integer(least, most, round, at),
                    random_integer(least, most, round, at + 1)};
  };
  const std::int64_t groups = random_integer(1, 2, round, 1);
  return {.filters = groups * random_integer(1, 4, round, 2),
          .kernel = pair(1, 3, 3),
          .stride = pair(1, 3, 5),
          .padding = pair(0, 2, 7),
          .dilation = pair(1, 2, 9),
          .groups = groups,
          .bias = round % 3 != 0,
          .activation = fusable[round % fusable.size()]};
}

void assign(const Tensor& tensor, const std::vector<double>& values) {
  REQUIRE(tensor.size() == static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.data<double>());
}

std::vector<std::vector<double>> all_bits(const LayerPtr& layer, const Shape& shape, int threads) {
  LayerRun run(layer, {shape}, 9, 4, Kokkos::OpenMP(threads));
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0]), values_of(run.d_parameters[0]),
          values_of(run.d_parameters[1])};
}

}  // namespace

TEST_CASE("A convolution computes f(x * w + b) and its gradients as a pencil does") {
  LayerRun run(conv2d({.filters = 1, .kernel = {1, 2}, .activation = Activation::relu}),
               {Shape{2, 1, 3}}, 1, 1);
  assign(run.inputs[0], {1, 2, 3, 4, 5, 6});
  assign(run.parameters[0], {1, -1, 0, 2});
  assign(run.parameters[1], {-10});
  assign(run.d_output, {5, 7});

  run.forward();
  run.backward();

  // 1 - 2 + 10 - 10 = -1 is cut off, 2 - 3 + 12 - 10 = 1
  CHECK(values_of(run.output) == std::vector<double>{0, 1});
  CHECK(values_of(run.d_parameters[0]) == std::vector<double>{14, 21, 35, 42});
  CHECK(values_of(run.d_parameters[1]) == std::vector<double>{7});
  CHECK(values_of(run.d_inputs[0]) == std::vector<double>{0, 7, -7, 0, 0, 14});
}

TEST_CASE("The gradients of a convolution equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const Conv2dOptions options = random_options(round);
    const Shape shape{options.groups * random_integer(1, 3, round, 20),
                      random_integer(5, 7, round, 21), random_integer(5, 8, round, 22)};
    LayerRun run(conv2d(options), {shape}, random_integer(1, 3, round, 23), round);

    CAPTURE(round, options.filters, options.groups);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("The gradients of a transposed convolution equal difference quotients") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    ConvTranspose2dOptions options{random_options(round)};
    options.output_padding = {random_integer(0, options.conv.stride.y - 1, round, 30),
                              random_integer(0, options.conv.stride.x - 1, round, 31)};
    const Shape shape{options.conv.groups * random_integer(1, 3, round, 20),
                      random_integer(5, 6, round, 21), random_integer(5, 7, round, 22)};
    LayerRun run(conv_transpose2d(options), {shape}, random_integer(1, 3, round, 23), round);

    CAPTURE(round, options.conv.filters, options.conv.groups);
    CHECK(check_layer_gradients(run) == "");
  }
}

TEST_CASE("Images of no channel extent have one") {
  CHECK(conv2d({.filters = 6, .kernel = {5, 5}, .padding = {2, 2}})
            ->infer(std::array{Shape{28, 28}}) == Shape{6, 28, 28});
  CHECK(conv2d({.filters = 6, .kernel = {5, 3}})->parameters(std::array{Shape{28, 28}})[0].shape ==
        Shape{6, 1, 5, 3});
}

TEST_CASE("Convolutions round their output down, transposed ones fill what a stride leaves open") {
  const Conv2dOptions options{.filters = 4, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};

  CHECK(conv2d(options)->infer(std::array{Shape{2, 8, 7}}) == Shape{4, 4, 4});
  CHECK(conv_transpose2d({options, {1, 0}})->infer(std::array{Shape{2, 4, 4}}) == Shape{4, 8, 7});
  CHECK(conv_transpose2d({options, {1, 0}})->parameters(std::array{Shape{2, 4, 4}})[0].shape ==
        Shape{2, 4, 3, 3});
}

TEST_CASE("A first convolution leaves out the gradient of its input") {
  for (const LayerPtr& layer :
       {conv2d({.filters = 3, .kernel = {3, 3}}), conv_transpose2d({{.filters = 3}})}) {
    LayerRun run(layer, {Shape{2, 5, 6}}, 2, 8);
    run.forward();
    run.backward();
    const auto expected = values_of(run.d_parameters[0]);
    run.d_inputs[0] = Tensor();

    run.backward();

    CHECK(values_of(run.d_parameters[0]) == expected);
  }
}

TEST_CASE("Convolutions have the same bits for any number of threads") {
  const Conv2dOptions options{
      .filters = 20, .kernel = {3, 3}, .padding = {1, 1}, .activation = Activation::tanh};
  for (const LayerPtr& layer : {conv2d(options), conv_transpose2d({options})}) {
    const auto one = all_bits(layer, Shape{12, 17, 19}, 1);

    CHECK(all_bits(layer, Shape{12, 17, 19}, 2) == one);
    CHECK(all_bits(layer, Shape{12, 17, 19}, 3) == one);
    CHECK(all_bits(layer, Shape{12, 17, 19}, 4) == one);
  }
}

TEST_CASE("A convolution declares what it needs") {
  const auto layer = conv2d({.filters = 32, .kernel = {5, 5}, .padding = {2, 2}});
  const std::array inputs{Shape{3, 32, 32}};
  const double products = 2.0 * 100 * 32 * 32 * 32 * 75;

  CHECK(layer->parameters(inputs)[0].init.scale == 1.0 / std::sqrt(75.0));
  CHECK(layer->forward_cost(100, inputs, DType::f32).flops == products);
  CHECK(layer->backward_cost(100, inputs, DType::f32, false).flops == products);
  CHECK(layer->backward_cost(100, inputs, DType::f32, true).flops == 2.0 * products);
  CHECK(layer->forward_cost(1, inputs, DType::f64).bytes ==
        8.0 * (3 * 32 * 32 + 32 * 75 + 32 * 32 * 32));
}

TEST_CASE("Convolutions refuse what they can't do") {
  const std::array image{Shape{4, 8, 8}};
  CHECK_THROWS_WITH(conv2d({.filters = 0}), ContainsSubstring("filters is 0"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .groups = 2}), ContainsSubstring("3 filters don't make"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .stride = {1, 0}}), ContainsSubstring("stride is 0"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .activation = Activation::gelu}),
                    ContainsSubstring("put a gelu layer behind it"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .kernel = {9, 1}})->infer(image),
                    ContainsSubstring("the kernel covers 9 of an input of 8 with 0"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .groups = 3})->infer(image),
                    ContainsSubstring("4 channels don't make 3"));
  CHECK_THROWS_WITH(conv2d({.filters = 3})->infer(std::array{Shape{7}}),
                    ContainsSubstring("must be an image"));
  CHECK_THROWS_WITH(
      conv2d({.filters = 3, .kernel = {200, 200}, .padding = {150, 150}})->infer(image),
      ContainsSubstring("about 16,000 pixels"));
  constexpr std::int64_t most = 1 << 20;
  CHECK_THROWS_WITH(
      conv2d({.filters = 3, .kernel = {most, most}, .dilation = {most, most}})->infer(image),
      ContainsSubstring("about 16,000 pixels"));
  CHECK_THROWS_WITH(conv2d({.filters = 3, .kernel = {1, most + 1}}),
                    "conv2d: kernel is 1048577; it must be at most 1048576");
  CHECK_THROWS_WITH(conv1d({.filters = 3, .stride = most + 1}),
                    ContainsSubstring("conv1d: stride is 1048577"));
  CHECK_THROWS_WITH(conv_transpose2d({{.filters = 3}, {1, 0}}),
                    ContainsSubstring("output_padding is not less than the stride"));
  CHECK_THROWS_WITH(conv_transpose2d({{.filters = 3, .padding = {4, 4}}})->infer(image),
                    ContainsSubstring("the padding takes all"));
}

TEST_CASE("A convolution of lines is one of images of one row") {
  for (std::uint64_t round = 0; round < 20; ++round) {
    Conv2dOptions flat = random_options(round);
    flat.kernel.y = flat.stride.y = flat.dilation.y = 1;
    flat.padding.y = 0;
    const Conv1dOptions options{.filters = flat.filters,
                                .kernel = flat.kernel.x,
                                .stride = flat.stride.x,
                                .padding = flat.padding.x,
                                .dilation = flat.dilation.x,
                                .groups = flat.groups,
                                .bias = flat.bias,
                                .activation = flat.activation};
    const std::int64_t channels = flat.groups * random_integer(1, 3, round, 20);
    const std::int64_t length = random_integer(5, 70, round, 21);
    LayerRun lines(conv1d(options), {Shape{channels, length}}, 3, round);
    LayerRun images(conv2d(flat), {Shape{channels, 1, length}}, 3, round);
    lines.forward();
    images.forward();

    CAPTURE(round, channels, length);
    CHECK(lines.output.shape().rank() == 3);
    CHECK(values_of(lines.output) == values_of(images.output));
    CHECK(check_layer_gradients(lines) == "");
  }
}

TEST_CASE("A convolution of lines refuses what is none") {
  const auto layer = conv1d({.filters = 4, .kernel = 3});
  CHECK(layer->type() == "conv1d");
  CHECK(layer->infer(std::array{Shape{2, 9}}) == Shape{4, 7});
  CHECK_THROWS_WITH(layer->infer(std::array{Shape{2, 1, 9}}),
                    ContainsSubstring("must be a line (channels, length)"));
  CHECK_THROWS_WITH(layer->infer(std::array{Shape{2, 2}}), ContainsSubstring("conv1d: the kernel"));
}

}  // namespace zygos::nn::test_conv2d
