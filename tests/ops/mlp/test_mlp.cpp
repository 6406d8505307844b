// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/launch.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/mlp/device/team_mlp.hpp"
#include "ops/mlp/mlp.hpp"
#include "reference/activation.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace zygos::ops::test_mlp {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// Inputs of the first layer, then outputs of each.
using Widths = std::vector<std::size_t>;
const std::vector<Widths> networks{{1, 1},     {6, 64, 64, 64, 3}, {5, 128, 7, 33},
                                   {128, 128}, {17, 1, 9},         {1, 3, 20}};
/// None, one, a few rows, a part of a register, whole tiles and a part of one.
const std::vector<std::size_t> batches{0, 1, 5, 9, 64, 67, 300};
const std::vector<Activation> activations{Activation::tanh, Activation::relu, Activation::none,
                                          Activation::sigmoid, Activation::gelu};

/// A network with activations one after the other, and a bias in every layer but the second.
template <class Exec, class T>
struct Network {
  explicit Network(const Widths& widths_) : widths(widths_) {
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
      kernel_values.push_back(rounded<T>(random_values(widths[i] * widths[i + 1], 10 + i)));
      bias_values.push_back(i == 1 ? std::vector<double>()
                                   : rounded<T>(random_values(widths[i + 1], 20 + i)));
      kernels.emplace_back(kernel_values.back());
      biases.emplace_back(bias_values.back());
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      layers.push_back({kernels[i].const_matrix(widths[i], widths[i + 1]), biases[i].const_vector(),
                        activations[i % activations.size()]});
    }
  }

  std::vector<double> reference(std::size_t samples, std::vector<double> values) const {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      values = reference::gemm(samples, widths[i + 1], widths[i], values, kernel_values[i]);
      for (std::size_t j = 0; j < values.size(); ++j) {
        const double bias = bias_values[i].empty() ? 0.0 : bias_values[i][j % widths[i + 1]];
        values[j] = reference::activated(layers[i].activation, values[j] + bias);
      }
    }
    return values;
  }

  /// A product a layer.
  std::vector<T> products(const Exec& exec, std::size_t samples, const Buffer<Exec, T>& x) const {
    std::vector<Buffer<Exec, T>> values{x};
    for (std::size_t i = 0; i < layers.size(); ++i) {
      values.emplace_back(samples * widths[i + 1]);
      gemm<Exec, T>(exec, values[i].const_matrix(samples, widths[i]), layers[i].kernel,
                    values[i + 1].matrix(samples, widths[i + 1]),
                    {layers[i].bias, layers[i].activation});
    }
    exec.fence("zygos::test");
    return values.back().values();
  }

  Widths widths;
  std::vector<std::vector<double>> kernel_values;
  std::vector<std::vector<double>> bias_values;
  std::vector<Buffer<Exec, T>> kernels;
  std::vector<Buffer<Exec, T>> biases;
  std::vector<MlpLayer<Exec, T>> layers;
};

template <class Exec, class T>
using Kernel = std::function<void(const Exec&, std::span<const MlpLayer<Exec, T>>,
                                  MatrixView<Exec, const T>, MatrixView<Exec, T>)>;

template <class Exec, class T>
void check_against_reference(const Kernel<Exec, T>& kernel) {
  const Exec exec = make_exec<Exec>();
  for (const Widths& widths : networks) {
    const Network<Exec, T> network(widths);
    for (const std::size_t samples : batches) {
      const auto inputs = rounded<T>(random_values(samples * widths.front(), 1));
      const Buffer<Exec, T> x(inputs);
      const Buffer<Exec, T> y(samples * widths.back());

      kernel(exec, network.layers, x.const_matrix(samples, widths.front()),
             y.matrix(samples, widths.back()));
      exec.fence("zygos::test");

      CAPTURE(widths, samples);
      CHECK(difference(y.values(), network.reference(samples, inputs), 100.0) == "");
      CHECK((x.guards_intact() && y.guards_intact()));
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A perceptron of two layers is what a pencil says", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> first(std::vector<double>{1, -1, 2, 0.5});  // (2, 2)
  const Buffer<Exec, T> bias(std::vector<double>{0.5, 1});
  const Buffer<Exec, T> second(std::vector<double>{2, 3});  // (2, 1)
  const std::vector<MlpLayer<Exec, T>> layers{
      {first.const_matrix(2, 2), bias.const_vector(), Activation::relu},
      {second.const_matrix(2, 1), {}, Activation::none}};
  const Buffer<Exec, T> x(std::vector<double>{1, 1, 3, -2});  // (2, 2)
  const Buffer<Exec, T> y(2);

  mlp<Exec, T>(exec, layers, x.const_matrix(2, 2), y.matrix(2, 1));
  exec.fence("zygos::test");

  // relu(3.5, 0.5) and relu(-0.5, -3)
  CHECK(y.values() == std::vector<T>{T(8.5), T(0)});
}

TEMPLATE_LIST_TEST_CASE("A fused perceptron equals the reference", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  check_against_reference<Exec, T>(
      [](const auto& exec, auto layers, auto x, auto y) { mlp<Exec, T>(exec, layers, x, y); });
}

TEMPLATE_LIST_TEST_CASE("What a device's teams compute equals the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  check_against_reference<Exec, T>(
      [](const auto& exec, auto layers, auto x, auto y) { team_mlp<Exec, T>(exec, layers, x, y); });
}

TEMPLATE_LIST_TEST_CASE("Where a host takes the fused kernel it has the bits of products", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  if constexpr (HostSpace<Exec>) {
    const Exec exec = make_exec<Exec>();
    int taken = 0;
    for (const Widths& widths : networks) {
      const Network<Exec, T> network(widths);
      for (const std::size_t samples : batches) {
        const std::span<const MlpLayer<Exec, T>> layers(network.layers);
        if (!mlp_profits<Exec, T>(layers, static_cast<std::int64_t>(samples))) {
          continue;
        }
        ++taken;
        const Buffer<Exec, T> x(random_values(samples * widths.front(), 1));
        const Buffer<Exec, T> y(samples * widths.back());
        mlp<Exec, T>(exec, layers, x.const_matrix(samples, widths.front()),
                     y.matrix(samples, widths.back()));
        CAPTURE(widths, samples);
        CHECK(y.values() == network.products(exec, samples, x));
      }
    }
    CHECK(taken > 4);
  }
}

TEST_CASE("Layers that do not fit into one kernel are refused") {
  using Exec = Kokkos::Serial;
  const Exec exec;
  const Network<Exec, float> wide({4, 129});
  const Network<Exec, float> unfit({4, 5});
  const Buffer<Exec, float> x(8), y(2 * 129);
  const auto run = [&](const std::vector<MlpLayer<Exec, float>>& layers, std::size_t inputs,
                       std::size_t outputs) {
    mlp<Exec, float>(exec, layers, x.const_matrix(2, inputs), y.matrix(2, outputs));
  };
  CHECK_THROWS(run(wide.layers, 4, 129));
  CHECK_THROWS(run(unfit.layers, 3, 5));
  CHECK_THROWS(run(unfit.layers, 4, 4));
  CHECK_THROWS(run({}, 4, 4));
  CHECK_THROWS(run(std::vector<MlpLayer<Exec, float>>(17, unfit.layers[0]), 4, 5));
  CHECK_NOTHROW(run(unfit.layers, 4, 5));
}

}  // namespace zygos::ops::test_mlp
