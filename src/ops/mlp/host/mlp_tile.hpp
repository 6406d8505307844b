// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of a host's multilayer perceptrons. Of many samples in tiles: features are rows, samples
// are columns, a sample a lane of a vector register, so that a layer of three outputs fills
// registers as one of 64 does. Of a few samples row by row. All sums are in the order of inputs.
#pragma once

#include <cstdint>

namespace zygos::ops {

/// So few samples are multiplied row by row.
inline constexpr std::int64_t max_mlp_rows = 6;

/// Samples of a full tile: those of one panel of the FMA microkernel.
template <class T>
std::int64_t mlp_tile_samples();

/// Columns of the tile that holds so many samples, whole registers.
template <class T>
std::int64_t mlp_tile_columns(std::int64_t samples);

/// tile (features, columns) = x (samples, features)^T, with zeros for columns without a sample.
template <class T>
void load_mlp_tile(const T* x, std::int64_t samples, std::int64_t features, T* tile);

/// y (outputs, columns) = W (inputs, outputs)^T x (inputs, columns)
template <class T>
void multiply_mlp_tile(const T* kernel, std::int64_t inputs, std::int64_t outputs, const T* x,
                       std::int64_t columns, T* y);

/// y (samples, outputs) = x (samples, inputs) W (inputs, outputs), of at most max_mlp_rows samples.
template <class T>
void multiply_mlp_rows(const T* kernel, std::int64_t inputs, std::int64_t outputs, const T* x,
                       std::int64_t samples, T* y);

/// y (samples, features) = tile (features, columns)^T
template <class T>
void store_mlp_tile(const T* tile, std::int64_t samples, std::int64_t features, T* y);

}  // namespace zygos::ops
