// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/device/team_conv2d.hpp"
#include "reference/activation.hpp"
#include "reference/conv2d.hpp"
#include "support/conv_shapes.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::ops::test_conv2d {
namespace {

using testing::Buffer;
using testing::conv_shapes;
using testing::difference;
using testing::inputs;
using testing::make_exec;
using testing::outputs;
using testing::random_values;
using testing::rounded;
using testing::weights;

}  // namespace

TEMPLATE_LIST_TEST_CASE("A small convolution is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Conv2d conv{1, 1, 1, 1, {2, 2}, {3, 2}};
  const Buffer<Exec, T> x(std::vector<double>{1, 2, 3, 4, 5, 6});
  const Buffer<Exec, T> w(std::vector<double>{1, 0, -1, 2});
  const Buffer<Exec, T> bias(std::vector<double>{-8});
  Buffer<Exec, T> y(2);

  conv2d<Exec, T>(exec, conv, x.const_vector(), w.const_vector(), y.vector(),
                  {bias.const_vector(), Activation::relu});
  exec.fence("zygos::test");

  // 1 - 4 + 10 = 7, 2 - 5 + 12 = 9
  CHECK(y.values() == std::vector<T>{T(0), T(1)});
}

TEMPLATE_LIST_TEST_CASE("Convolutions equal their definition", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Conv2d& c : conv_shapes()) {
    CAPTURE_CONV(c);
    REQUIRE(fits(c));
    const auto x_values = rounded<T>(random_values(inputs(c), 1));
    const auto w_values = rounded<T>(random_values(weights(c), 2));
    const auto bias_values = rounded<T>(random_values(static_cast<std::size_t>(c.filters), 3));
    const Buffer<Exec, T> x(x_values);
    const Buffer<Exec, T> w(w_values);
    const Buffer<Exec, T> bias(bias_values);
    Buffer<Exec, T> y(std::vector<double>(outputs(c), 7.0));
    std::vector<double> expected(outputs(c), 0.0);
    reference::for_each_convolution_product(c, [&](std::size_t i, std::size_t k, std::size_t o) {
      expected[o] += x_values[i] * w_values[k];
    });
    const double bound = 4.0 + static_cast<double>(c.weights() / c.filters);

    conv2d<Exec, T>(exec, c, x.const_vector(), w.const_vector(), y.vector());
    exec.fence("zygos::test");
    CHECK(difference(y.values(), expected, bound) == "");

    const auto pixels = static_cast<std::size_t>(c.y.output() * c.x.output());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += bias_values[i / pixels % bias_values.size()];
      expected[i] = expected[i] < 0.0 ? 0.0 : expected[i];
    }
    conv2d<Exec, T>(exec, c, x.const_vector(), w.const_vector(), y.vector(),
                    {bias.const_vector(), Activation::relu});
    exec.fence("zygos::test");
    CHECK(difference(y.values(), expected, bound) == "");
    CHECK(y.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of a convolution's input equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Conv2d& c : conv_shapes()) {
    CAPTURE_CONV(c);
    const auto d_y_values = rounded<T>(random_values(outputs(c), 1));
    const auto w_values = rounded<T>(random_values(weights(c), 2));
    const auto bias_values = rounded<T>(random_values(static_cast<std::size_t>(c.channels), 3));
    const Buffer<Exec, T> d_y(d_y_values);
    const Buffer<Exec, T> w(w_values);
    const Buffer<Exec, T> bias(bias_values);
    const Buffer<Exec, T> transposed(weights(c));
    Buffer<Exec, T> d_x(std::vector<double>(inputs(c), 7.0));
    std::vector<double> expected(inputs(c), 0.0);
    reference::for_each_convolution_product(c, [&](std::size_t i, std::size_t k, std::size_t o) {
      expected[i] += d_y_values[o] * w_values[k];
    });
    const double bound = 4.0 + static_cast<double>(c.filters / c.groups * c.y.kernel * c.x.kernel);

    conv2d_backward_input<Exec, T>(exec, c, d_y.const_vector(), w.const_vector(),
                                   transposed.vector(), d_x.vector());
    exec.fence("zygos::test");
    CHECK(difference(d_x.values(), expected, bound) == "");

    const auto plane = static_cast<std::size_t>(c.y.input * c.x.input);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += bias_values[i / plane % bias_values.size()];
    }
    conv2d_backward_input<Exec, T>(exec, c, d_y.const_vector(), w.const_vector(),
                                   transposed.vector(), d_x.vector(),
                                   {bias.const_vector(), Activation::none});
    exec.fence("zygos::test");
    CHECK(difference(d_x.values(), expected, bound) == "");
    CHECK(d_x.guards_intact());
    CHECK(transposed.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of a convolution's weights equal their definition", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Conv2d& c : conv_shapes()) {
    CAPTURE_CONV(c);
    const auto x_values = rounded<T>(random_values(inputs(c), 1));
    const auto d_y_values = rounded<T>(random_values(outputs(c), 2));
    const Buffer<Exec, T> x(x_values);
    const Buffer<Exec, T> d_y(d_y_values);
    const Buffer<Exec, T> scratch(static_cast<std::size_t>(filter_scratch<T>(c)));
    Buffer<Exec, T> d_w(std::vector<double>(weights(c), 7.0));
    std::vector<double> expected(weights(c), 0.0);
    reference::for_each_convolution_product(c, [&](std::size_t i, std::size_t k, std::size_t o) {
      expected[k] += x_values[i] * d_y_values[o];
    });
    const double bound = 4.0 + static_cast<double>(c.samples * c.y.output() * c.x.output());

    conv2d_backward_filter<Exec, T>(exec, c, x.const_vector(), d_y.const_vector(), scratch.vector(),
                                    d_w.vector(), Into::replaced);
    exec.fence("zygos::test");
    CHECK(difference(d_w.values(), expected, bound) == "");

    for (double& value : expected) {
      value *= 2.0;
    }
    conv2d_backward_filter<Exec, T>(exec, c, x.const_vector(), d_y.const_vector(), scratch.vector(),
                                    d_w.vector(), Into::added);
    exec.fence("zygos::test");
    CHECK(difference(d_w.values(), expected, bound) == "");
    CHECK(d_w.guards_intact());
    CHECK(scratch.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Sums of channels go over samples and pixels", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const auto& [samples, channels, pixels] :
       {std::array<std::size_t, 3>{0, 2, 3}, {1, 1, 1}, {3, 5, 7}, {4, 3, 101}, {50, 2, 784}}) {
    const auto values = rounded<T>(random_values(samples * channels * pixels, 1));
    std::vector<double> expected(channels, 0.5);
    for (std::size_t i = 0; i < values.size(); ++i) {
      expected[i / pixels % channels] += values[i];
    }
    const Buffer<Exec, T> image(values);
    Buffer<Exec, T> sums(std::vector<double>(channels, 0.5));

    sum_channels<Exec, T>(exec, static_cast<std::int64_t>(samples), image.const_vector(),
                          sums.vector(), Into::added);
    exec.fence("zygos::test");

    const double bound = 4.0 + 0.05 * static_cast<double>(samples * pixels);
    CHECK(difference(sums.values(), expected, bound) == "");
    CHECK(sums.guards_intact());
  }
}

namespace {

template <class Exec, class T, TiledBy by>
void compare_with_device() {
  const Exec exec = make_exec<Exec>();
  for (const Conv2d& c : conv_shapes()) {
    CAPTURE_CONV(c);
    const Buffer<Exec, T> x(rounded<T>(random_values(inputs(c), 1)));
    const Buffer<Exec, Wide<T>> w(rounded<T>(random_values(weights(c), 2)));
    const Buffer<Exec, Wide<T>> bias(random_values(static_cast<std::size_t>(c.filters), 3));
    const Epilogue<Exec, T> epilogue{bias.const_vector(), Activation::tanh};
    const Buffer<Exec, T> d_y(rounded<T>(random_values(outputs(c), 4)));
    const Buffer<Exec, T> y(outputs(c));
    const Buffer<Exec, T> y_tiled(std::vector<double>(outputs(c), 7.0));
    const Buffer<Exec, Wide<T>> d_w(weights(c));
    const Buffer<Exec, Wide<T>> d_w_tiled(std::vector<double>(weights(c), 7.0));
    const Buffer<Exec, Wide<T>> scratch(static_cast<std::size_t>(filter_scratch<T>(c)));
    const Buffer<Exec, Wide<T>> scratch_tiled(static_cast<std::size_t>(filter_scratch<T>(c)));
    const auto doubles = [](const auto& values) {
      return std::vector<double>(values.begin(), values.end());
    };

    conv2d<Exec, T>(exec, c, x.const_vector(), w.const_vector(), y.vector(), epilogue);
    conv2d_backward_filter<Exec, T>(exec, c, x.const_vector(), d_y.const_vector(), scratch.vector(),
                                    d_w.vector(), Into::replaced);
    ImplicitGemm<T> product = forward_gemm<T>(c, w.data(), x.data(), y_tiled.data());
    tiled_windows<Exec, T, by>("zygos::test::conv2d", exec, product, epilogue);
    product.to = d_y.data();
    tiled_gradient<Exec, T, by>(exec, product, scratch_tiled.vector(), d_w_tiled.vector(),
                                Into::replaced);
    exec.fence("zygos::test");

    const double k = static_cast<double>(c.weights() / c.filters);
    // Of bf16, sums that differ in their last bits may be rounded to neighbours.
    const double rounded_apart = std::is_same_v<T, bf16> ? 2.01 : 4.0 + k;
    CHECK(difference(y_tiled.values(), doubles(y.values()), rounded_apart) == "");
    const double q = static_cast<double>(c.samples * c.y.output() * c.x.output());
    CHECK(difference(d_w_tiled.values(), doubles(d_w.values()), 4.0 + q) == "");
    CHECK(y_tiled.guards_intact());
    CHECK(d_w_tiled.guards_intact());
    CHECK(scratch_tiled.guards_intact());
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("What a device computes equals what a host does", "",
                        testing::KernelCases) {
  compare_with_device<typename TestType::Exec, typename TestType::T, TiledBy::threads>();
}

TEMPLATE_LIST_TEST_CASE("What a device computes of bf16 equals what a host does", "",
                        testing::AllSpaces) {
  compare_with_device<TestType, bf16, TiledBy::threads>();
  compare_with_device<TestType, bf16, TiledBy::matrix_unit>();
}

TEST_CASE("A convolution's bits depend neither on threads nor on how a batch is cut") {
  // Of forty samples some share vectors, of few those are of pixels.
  const std::int64_t samples_of_whole = GENERATE(7, 40);
  const Conv2d whole{samples_of_whole, 3, 9, 1, {10, 3, 1, 1}, {9, 3, 1, 1}};
  const Buffer<Kokkos::OpenMP, float> x(random_values(inputs(whole), 1));
  const Buffer<Kokkos::OpenMP, float> w(random_values(weights(whole), 2));
  const auto run = [&](int threads, std::int64_t first, std::int64_t samples) {
    Conv2d part = whole;
    part.samples = samples;
    Buffer<Kokkos::OpenMP, float> y(outputs(part));
    const Kokkos::OpenMP exec(threads);
    conv2d<Kokkos::OpenMP, float>(exec, part, {x.data() + first * 3 * 90, inputs(part)},
                                  w.const_vector(), y.vector());
    exec.fence("zygos::test");
    return y.values();
  };
  const auto one = run(1, 0, whole.samples);

  CHECK(run(2, 0, whole.samples) == one);
  CHECK(run(3, 0, whole.samples) == one);
  CHECK(run(4, 0, whole.samples) == one);
  auto parts = run(2, 0, 2);
  const auto rest = run(1, 2, whole.samples - 2);
  parts.insert(parts.end(), rest.begin(), rest.end());
  CHECK(parts == one);
}

TEST_CASE("A receptive field of more than sixteen thousand elements is too large") {
  CHECK(fits({1, 1, 1, 1, {300, 120}, {300, 120}}));
  CHECK_FALSE(fits({1, 1, 1, 1, {300, 140}, {300, 140}}));
}

}  // namespace zygos::ops::test_conv2d
