// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions by cuDNN on a table of fakes that compute what the descriptors say.
#include "ops/conv/device/cudnn_conv.hpp"
#include "ops/conv/fake_cudnn.hpp"
#include "reference/conv2d.hpp"
#include "support/random_values.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace zygos::ops::test_cudnn_conv {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::FakeCudnn;

constexpr const char* forward_name = "cudnnConvolutionForward";
constexpr const char* data_name = "cudnnConvolutionBackwardData";
constexpr const char* filter_name = "cudnnConvolutionBackwardFilter";
constexpr int precomp = cudnn_algorithm::forward_implicit_precomp_gemm;
constexpr int implicit = cudnn_algorithm::forward_implicit_gemm;
using Computed = std::vector<std::pair<std::string, int>>;

/// Axes that differ, strides that leave a rest, dilation, groups, a channel a group, kernels of one
/// row, a transposed convolution's output that its input does not reach, an even kernel.
const std::vector<Conv2d>& shapes() {
  static const std::vector<Conv2d> all{
      {1, 1, 1, 1, {2, 2}, {3, 2}},
      {2, 3, 4, 1, {7, 3, 1, 1}, {5, 3, 1, 1}},
      {3, 2, 5, 1, {9, 3, 2, 1}, {8, 2, 3, 0}},
      {2, 6, 4, 2, {9, 3, 2, 1, 2}, {11, 2, 3, 2, 3}},
      {2, 4, 8, 4, {6, 3, 1, 1}, {7, 3, 1, 1}},
      {3, 4, 6, 1, {1, 1}, {12, 5, 1, 2, 2}},
      {2, 2, 3, 1, {6, 3, 2, 1}, {6, 3, 2, 1}},
      {1, 3, 2, 1, {4, 2, 1, 3}, {5, 4, 1, 2}},
      {4, 5, 7, 1, {1, 1}, {1, 1}},
  };
  return all;
}
const Conv2d& small_shape() { return shapes()[1]; }

std::size_t elements(std::int64_t number) { return static_cast<std::size_t>(number); }

/// The operands of a convolution, and what was computed of them. Results begin with sevens.
template <class T>
struct Case {
  explicit Case(const Conv2d& of)
      : conv(of),
        x(testing::random_values_of<T>(elements(of.samples * of.channels * of.y.input * of.x.input),
                                       1)),
        w(testing::random_values_of<T>(elements(of.weights()), 2)),
        d_y(testing::random_values_of<T>(
            elements(of.samples * of.filters * of.y.output() * of.x.output()), 3)),
        y(d_y.size(), T(7)),
        d_x(x.size(), T(7)),
        d_w(w.size(), T(7)) {}

  CudnnCall call(std::size_t scratch_bytes = 0) {
    scratch.resize(scratch_bytes / sizeof(T) + 64);
    return {conv, dtype_of<T>, 0, nullptr, {scratch.data(), scratch_bytes}};
  }
  bool forward(CudnnConv& cudnn) { return cudnn.forward(call(), x.data(), w.data(), y.data()); }
  bool input_gradient(CudnnConv& cudnn) {
    return cudnn.input_gradient(call(), w.data(), d_y.data(), d_x.data());
  }
  bool filter_gradient(CudnnConv& cudnn, bool adds = false) {
    return cudnn.filter_gradient(call(), x.data(), d_y.data(), d_w.data(), adds);
  }

  Conv2d conv;
  std::vector<T> x;
  std::vector<T> w;
  std::vector<T> d_y;
  std::vector<T> y;
  std::vector<T> d_x;
  std::vector<T> d_w;
  std::vector<T> scratch;
};

/// Largest difference.
template <class T>
double distance(const std::vector<T>& found, const std::vector<double>& expected) {
  double largest = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected[i]));
  }
  return largest;
}

/// Every function of cuDNN that a pass and its gradients call, but those that destroy.
constexpr std::array functions{"cudnnCreate",
                               "cudnnSetStream",
                               "cudnnCreateTensorDescriptor",
                               "cudnnSetTensor4dDescriptor",
                               "cudnnCreateFilterDescriptor",
                               "cudnnSetFilter4dDescriptor",
                               "cudnnCreateConvolutionDescriptor",
                               "cudnnSetConvolution2dDescriptor",
                               "cudnnSetConvolutionGroupCount",
                               "cudnnSetConvolutionMathType",
                               "cudnnGetConvolutionForwardWorkspaceSize",
                               "cudnnGetConvolutionBackwardDataWorkspaceSize",
                               "cudnnGetConvolutionBackwardFilterWorkspaceSize",
                               forward_name,
                               data_name,
                               filter_name};

}  // namespace

TEMPLATE_TEST_CASE("What cuDNN is told to compute is a convolution and its gradients", "", float,
                   double) {
  using T = TestType;
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  for (const Conv2d& conv : shapes()) {
    CAPTURE(conv.channels, conv.filters, conv.groups, conv.y.input, conv.x.input);
    Case<T> one(conv);
    std::vector<double> y(one.y.size(), 0.0);
    std::vector<double> d_x(one.d_x.size(), 0.0);
    std::vector<double> d_w(one.d_w.size(), 0.0);
    reference::for_each_convolution_product(conv, [&](std::size_t i, std::size_t k, std::size_t o) {
      y[o] += static_cast<double>(one.x[i]) * static_cast<double>(one.w[k]);
      d_x[i] += static_cast<double>(one.d_y[o]) * static_cast<double>(one.w[k]);
      d_w[k] += static_cast<double>(one.x[i]) * static_cast<double>(one.d_y[o]);
    });

    REQUIRE(one.forward(cudnn));
    REQUIRE(one.input_gradient(cudnn));
    REQUIRE(one.filter_gradient(cudnn));
    CHECK(distance(one.y, y) < tolerance);
    CHECK(distance(one.d_x, d_x) < tolerance);
    CHECK(distance(one.d_w, d_w) < tolerance);

    for (double& sum : d_w) {
      sum *= 2.0;
    }
    REQUIRE(one.filter_gradient(cudnn, true));
    CHECK(distance(one.d_w, d_w) < 2.0 * tolerance);
  }
}

TEST_CASE("A handle is made once, and the descriptors of a convolution are, too") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  Case<float> one(small_shape());
  const auto step = [&] {
    REQUIRE(one.forward(cudnn));
    REQUIRE(one.input_gradient(cudnn));
    REQUIRE(one.filter_gradient(cudnn));
  };
  CHECK(fake.calls.empty());

  step();
  step();
  step();

  CHECK(fake.count("cudnnCreate") == 1);
  CHECK(fake.count("cudnnCreateTensorDescriptor") == 2);
  CHECK(fake.count("cudnnCreateFilterDescriptor") == 1);
  CHECK(fake.count("cudnnCreateConvolutionDescriptor") == 1);
  CHECK(fake.count("cudnnGetConvolutionForwardWorkspaceSize") == 2);
  CHECK(fake.count("cudnnGetConvolutionBackwardDataWorkspaceSize") == 1);
  CHECK(fake.count("cudnnGetConvolutionBackwardFilterWorkspaceSize") == 1);
  CHECK(fake.count(forward_name) == 3);
}

TEST_CASE("Another batch, another axis and another type have descriptors of their own") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  Conv2d of_one = small_shape();
  of_one.samples = 1;
  Conv2d narrow = small_shape();
  narrow.x.padding = 0;

  REQUIRE(Case<float>(small_shape()).forward(cudnn));
  REQUIRE(Case<float>(of_one).forward(cudnn));
  REQUIRE(Case<float>(narrow).forward(cudnn));
  REQUIRE(Case<double>(narrow).forward(cudnn));

  CHECK(fake.count("cudnnCreateConvolutionDescriptor") == 4);
}

TEST_CASE("A convolution runs on the device and the stream that it is given") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  Case<float> one(small_shape());
  std::array<int, 2> streams{};
  CudnnCall call = one.call();
  call.device = 3;
  for (int& stream : streams) {
    call.stream = &stream;

    REQUIRE(cudnn.forward(call, one.x.data(), one.w.data(), one.y.data()));

    CHECK(fake.device == 3);
    CHECK(fake.stream == &stream);
  }
  call.device = 2;
  CHECK_THROWS_WITH(cudnn.forward(call, one.x.data(), one.w.data(), one.y.data()),
                    ContainsSubstring("handle is of another device"));
}

TEST_CASE("Whatever was made of cuDNN is destroyed") {
  FakeCudnn fake;
  {
    CudnnConv cudnn(fake.table());
    for (const Conv2d& conv : shapes()) {
      REQUIRE(Case<float>(conv).forward(cudnn));
    }
    CHECK(fake.alive() == 1 + 4 * shapes().size());
  }

  CHECK(fake.alive() == 0);
  CHECK(fake.calls.back() == "cudnnDestroy");
}

TEST_CASE("Descriptors of no more convolutions are kept than a model has") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  Conv2d conv{1, 1, 1, 1, {1, 1}, {1, 1}};
  for (std::size_t i = 0; i <= CudnnConv::max_kept; ++i, ++conv.samples) {
    REQUIRE(Case<float>(conv).forward(cudnn));
    CHECK(fake.alive() <= 1 + 4 * CudnnConv::max_kept);
  }

  CHECK(fake.alive() == 1 + 4);
}

TEST_CASE("The first algorithm whose workspace fits into the scratch memory is taken") {
  FakeCudnn fake;
  fake.workspaces = {{{forward_name, precomp}, 1000}};
  CudnnConv cudnn(fake.table());
  Case<float> one(small_shape());
  const auto algorithm_with = [&](std::size_t scratch_bytes) {
    REQUIRE(cudnn.forward(one.call(scratch_bytes), one.x.data(), one.w.data(), one.y.data()));
    return fake.computed.back().second;
  };

  CHECK(algorithm_with(0) == implicit);
  CHECK(algorithm_with(999) == implicit);
  CHECK_FALSE(fake.wrote_to_scratch);
  // The workspace begins at an aligned address.
  CHECK(algorithm_with(1000 + 255) == precomp);
  CHECK(fake.wrote_to_scratch);
  CHECK(algorithm_with(999) == implicit);
}

TEST_CASE("Where no workspace fits, nothing is computed") {
  FakeCudnn fake;
  fake.workspaces = {{{forward_name, precomp}, 1 << 20},
                     {{forward_name, implicit}, 1 << 20},
                     {{data_name, 1}, 1 << 20},
                     {{filter_name, 1}, 1 << 20}};
  CudnnConv cudnn(fake.table());
  Case<float> one(small_shape());

  CHECK_FALSE(one.forward(cudnn));
  CHECK_FALSE(one.input_gradient(cudnn));
  CHECK_FALSE(one.filter_gradient(cudnn));

  CHECK(fake.computed.empty());
  CHECK(one.y == std::vector<float>(one.y.size(), 7.0F));
}

TEST_CASE("Gradients are computed by the algorithms without atomics alone") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  for (const Conv2d& conv : shapes()) {
    fake.computed.clear();
    Case<double> one(conv);

    REQUIRE(one.input_gradient(cudnn));
    REQUIRE(one.filter_gradient(cudnn));

    CHECK(fake.computed == Computed{{data_name, 1}, {filter_name, 1}});
  }
}

TEST_CASE("An algorithm that cuDNN does not have for a shape is passed over") {
  FakeCudnn fake;
  fake.returns_of = {{{forward_name, precomp}, FakeCudnn::not_supported_shape},
                     {{data_name, 1}, FakeCudnn::not_supported_shape}};
  fake.returns = {
      {"cudnnGetConvolutionBackwardFilterWorkspaceSize", FakeCudnn::not_supported_shape}};
  CudnnConv cudnn(fake.table());
  Case<float> one(small_shape());

  CHECK(one.forward(cudnn));
  CHECK_FALSE(one.input_gradient(cudnn));
  CHECK_FALSE(one.filter_gradient(cudnn));

  CHECK(fake.computed == Computed{{forward_name, implicit}});
  CHECK(fake.count(filter_name) == 0);
}

TEST_CASE("cuDNN is not asked for no elements, nor for more than an int counts") {
  FakeCudnn fake;
  CudnnConv cudnn(fake.table());
  const std::int64_t side = std::int64_t{1} << 16;
  const std::vector<Conv2d> others{{0, 3, 4, 1, {7, 3}, {5, 3}},
                                   {2, 3, 4, 1, {2, 3}, {5, 3}},
                                   {1, 1, 1, 1, {side, 3, 1, 1}, {side / 2, 3, 1, 1}},
                                   {1, 1, 3, 1, {side, 3, 1, 1}, {side / 4, 3, 1, 1}},
                                   {1, side, side, 1, {1, 1}, {1, 1}},
                                   {2, 3, 4, 1, {7, 3}, {5, 3, std::int64_t{1} << 31}}};
  for (const Conv2d& conv : others) {
    CAPTURE(conv.samples, conv.filters, conv.y.input);
    CHECK_FALSE(cudnn.forward({conv, DType::f32}, nullptr, nullptr, nullptr));
    CHECK_FALSE(cudnn.input_gradient({conv, DType::f32}, nullptr, nullptr, nullptr));
    CHECK_FALSE(cudnn.filter_gradient({conv, DType::f32}, nullptr, nullptr, nullptr, false));
  }

  CHECK(fake.calls.empty());
  CHECK(fake.device == -1);
}

TEST_CASE("Whatever cuDNN reports is an error that names the call") {
  for (const char* const function : functions) {
    CAPTURE(function);
    FakeCudnn fake;
    fake.returns[function] = FakeCudnn::execution_failed;
    {
      CudnnConv cudnn(fake.table());
      Case<float> one(small_shape());
      const auto step = [&] {
        static_cast<void>(one.forward(cudnn));
        static_cast<void>(one.input_gradient(cudnn));
        static_cast<void>(one.filter_gradient(cudnn));
      };

      CHECK_THROWS_AS(step(), InternalError);
      CHECK_THROWS_WITH(step(),
                        ContainsSubstring("ops::conv2d: " + std::string(function) + ": code 5000"));
      fake.returns.clear();
      CHECK_NOTHROW(step());
    }
    CHECK(fake.alive() == 0);
  }
}

TEST_CASE("A device that CUDA does not give is an error in its words") {
  FakeCudnn fake;
  fake.has_device = false;
  CudnnConv cudnn(fake.table());

  CHECK_THROWS_WITH(Case<float>(small_shape()).forward(cudnn),
                    ContainsSubstring("cudaSetDevice: no device"));

  CHECK(fake.calls.empty());
}

}  // namespace zygos::ops::test_cudnn_conv
