// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Multilayer perceptrons of host lanes: threads over tiles of samples, which lie on their stacks.
#include "ops/mlp/mlp.hpp"

#include "ops/common/blocking.hpp"
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/host/algorithm.hpp"
#include "ops/gemm/host/finish.hpp"
#include "ops/gemm/host/work.hpp"
#include "ops/gemm/microkernel/extents.hpp"
#include "ops/mlp/host/mlp_tile.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace zygos::ops {
namespace {

template <class View>
std::int64_t inputs_of(const View& kernel) {
  return static_cast<std::int64_t>(kernel.extent(0));
}

template <class View>
std::int64_t outputs_of(const View& kernel) {
  return static_cast<std::int64_t>(kernel.extent(1));
}

/// Features of a tile of samples.
template <class T>
using Tile = std::array<T, static_cast<std::size_t>(max_mlp_width* microkernel::panel<T>)>;

/// tile (outputs, columns) = tanh(tile + bias), in two passes over a few rows, which a processor
/// overlaps better than one: its schedulers hold few of the operations that wait for a polynomial
/// and then for a quotient. `columns`: a number, or a constant.
template <class Columns>
void finish_tangents(std::int64_t outputs, Columns columns, const float* bias, float* tile) {
  constexpr std::int64_t block = 16;
  alignas(microkernel::line_bytes) std::array<float, block * microkernel::panel<float>> powers;
  for (std::int64_t begin = 0; begin < outputs; begin += block) {
    const std::int64_t rows = std::min(block, outputs - begin);
    float* const x = tile + begin * columns;
    for (std::int64_t j = 0; j < rows; ++j) {
      const float added = bias == nullptr ? -0.0F : bias[begin + j];  // x - 0 is x, of -0 as well
      float* const row = x + j * columns;
      float* const power = powers.data() + j * columns;
      for (std::int64_t i = 0; i < columns; ++i) {
        row[i] += added;
        power[i] = tangent_power(row[i]);
      }
    }
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      x[i] = tangent_from_power(powers[static_cast<std::size_t>(i)], x[i]);
    }
  }
}

/// tile (outputs, columns) = f(tile + bias)
template <Activation which, class T>
void finish_tile(std::int64_t outputs, std::int64_t columns, const T* bias, T* tile) {
  if constexpr (which == Activation::tanh && std::is_same_v<T, float>) {
    constexpr std::integral_constant<std::int64_t, microkernel::panel<float>> full;
    return columns == full ? finish_tangents(outputs, full, bias, tile)
                           : finish_tangents(outputs, columns, bias, tile);
  }
  for (std::int64_t j = 0; j < outputs; ++j) {
    T* const row = tile + j * columns;
    if (bias == nullptr) {
      for (std::int64_t i = 0; i < columns; ++i) {
        row[i] = activated<which>(row[i]);
      }
      continue;
    }
    const T added = bias[j];
    for (std::int64_t i = 0; i < columns; ++i) {
      row[i] = activated<which>(row[i] + added);
    }
  }
}

template <class Exec, class T>
void run_rows(std::span<const MlpLayer<Exec, T>> layers, std::int64_t samples, const T* x, T* y) {
  using Rows = std::array<T, static_cast<std::size_t>(max_mlp_width * max_mlp_rows)>;
  alignas(microkernel::line_bytes) Rows first;
  alignas(microkernel::line_bytes) Rows second;
  const T* from = x;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const MlpLayer<Exec, T>& layer = layers[i];
    T* const to = i + 1 == layers.size() ? y : i % 2 == 0 ? first.data() : second.data();
    const std::int64_t outputs = outputs_of(layer.kernel);
    multiply_mlp_rows(layer.kernel.data(), inputs_of(layer.kernel), outputs, from, samples, to);
    const T* const bias = layer.bias.data();
    if (bias != nullptr || layer.activation != Activation::none) {
      with_activation(layer.activation, [&](auto constant) {
        finish<decltype(constant)::value>({0, 0, samples, outputs}, outputs, bias, to);
      });
    }
    from = to;
  }
}

template <class Exec, class T>
void run_tile(std::span<const MlpLayer<Exec, T>> layers, std::int64_t samples, const T* x, T* y) {
  alignas(microkernel::line_bytes) Tile<T> first;
  alignas(microkernel::line_bytes) Tile<T> second;
  T* from = first.data();
  T* to = second.data();
  const std::int64_t columns = mlp_tile_columns<T>(samples);
  load_mlp_tile(x, samples, inputs_of(layers.front().kernel), from);
  for (const MlpLayer<Exec, T>& layer : layers) {
    const std::int64_t outputs = outputs_of(layer.kernel);
    multiply_mlp_tile(layer.kernel.data(), inputs_of(layer.kernel), outputs, from, columns, to);
    const T* const bias = layer.bias.data();
    if (bias != nullptr || layer.activation != Activation::none) {
      with_activation(layer.activation, [&](auto constant) {
        finish_tile<decltype(constant)::value>(outputs, columns, bias, to);
      });
    }
    std::swap(from, to);
  }
  store_mlp_tile(from, samples, outputs_of(layers.back().kernel), y);
}

template <class Exec, class T>
GemmWork work_of(std::span<const MlpLayer<Exec, T>> layers, std::int64_t samples) {
  GemmWork work{0, 0};
  for (const MlpLayer<Exec, T>& layer : layers) {
    const GemmWork one = gemm_work(samples, outputs_of(layer.kernel), inputs_of(layer.kernel));
    const bool exponential =
        layer.activation != Activation::none && layer.activation != Activation::relu;
    const std::int64_t more = samples * outputs_of(layer.kernel) * exponential_volume;
    work.volume += one.volume + (exponential ? more : 0);
  }
  // What lies between layers is nobody else's.
  work.elements = samples * (inputs_of(layers.front().kernel) + outputs_of(layers.back().kernel));
  return work;
}

}  // namespace

template <class Exec, class T>
bool mlp_profits(std::span<const MlpLayer<Exec, T>> layers, std::int64_t samples) {
  return std::ranges::all_of(layers, [&](const MlpLayer<Exec, T>& layer) {
    return gemm_algorithm_of_part<T>({GemmForm::nn, samples, outputs_of(layer.kernel),
                                      inputs_of(layer.kernel)}) == GemmAlgorithm::fma;
  });
}

template <class Exec, class T>
void mlp(const Exec& exec, std::span<const MlpLayer<Exec, T>> layers, MatrixView<Exec, const T> x,
         MatrixView<Exec, T> y) {
  require_mlp<Exec, T>(layers, x, y);
  const auto samples = static_cast<std::int64_t>(x.extent(0));
  if (samples == 0) {
    return;
  }
  if (samples <= max_mlp_rows) {
    return run_rows(layers, samples, x.data(), y.data());
  }
  const std::int64_t tiles = ceil_div(samples, mlp_tile_samples<T>());
  for_each_piece("zygos::ops::mlp", exec, tiles, grain_size(work_of(layers, samples), tiles),
                 [&](std::int64_t tile) {
                   const std::int64_t begin = tile * mlp_tile_samples<T>();
                   run_tile(layers, std::min(mlp_tile_samples<T>(), samples - begin),
                            x.data() + begin * static_cast<std::int64_t>(x.extent(1)),
                            y.data() + begin * static_cast<std::int64_t>(y.extent(1)));
                 });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                  \
  template bool mlp_profits<SPACE, T>(std::span<const MlpLayer<SPACE, T>>, std::int64_t); \
  template void mlp<SPACE, T>(const SPACE&, std::span<const MlpLayer<SPACE, T>>,          \
                              MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
