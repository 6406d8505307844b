// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples of a caller as kernels see them: numbers in columns, wherever they lie and whatever their
// type. A type is looked at per element, so that a kernel is compiled once per execution space.
#pragma once

#include "zygos/core/bf16.hpp"
#include "zygos/core/dtype.hpp"
#include "zygos/infer/samples.hpp"
#include "zygos/tensor/tensor.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace zygos::insitu {

/// Every float and every bf16 is a double.
KOKKOS_INLINE_FUNCTION double load(const void* data, DType dtype, std::int64_t at) {
  switch (dtype) {
    case DType::f64:
      return static_cast<const double*>(data)[at];
    case DType::f32:
      return static_cast<double>(static_cast<const float*>(data)[at]);
    default:
      return static_cast<double>(static_cast<float>(static_cast<const bf16*>(data)[at]));
  }
}

/// To the nearest.
KOKKOS_INLINE_FUNCTION void store(void* data, DType dtype, std::int64_t at, double value) {
  switch (dtype) {
    case DType::f64:
      static_cast<double*>(data)[at] = value;
      return;
    case DType::f32:
      static_cast<float*>(data)[at] = static_cast<float>(value);
      return;
    default:
      static_cast<bf16*>(data)[at] = bf16(static_cast<float>(value));
  }
}

/// One View: consecutive columns. Axes whose elements lie one behind the other are one axis.
struct Part {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t stride = 0;  ///< from one sample to the next, in elements
  std::int64_t width = 0;   ///< columns
  std::size_t rank = 0;
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  std::array<std::int64_t, Shape::max_rank> strides{};

  KOKKOS_INLINE_FUNCTION std::int64_t at(std::int64_t sample, std::int64_t column) const {
    std::int64_t place = sample * stride;
    for (std::size_t axis = rank; axis-- > 1;) {
      place += column % dimensions[axis] * strides[axis];
      column /= dimensions[axis];
    }
    return place + column * strides[0];
  }
};

/// Views side by side.
struct Columns {
  static constexpr std::size_t max_parts = 8;
  std::array<Part, max_parts> parts{};
  std::size_t count = 0;
  std::int64_t samples = 0;
  std::int64_t width = 0;

  /// f(column, part, where in the part) for all columns of a sample.
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_each(std::int64_t sample, const F& f) const {
    std::int64_t column = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Part& part = parts[i];
      for (std::int64_t k = 0; k < part.width; ++k, ++column) {
        f(column, part, part.at(sample, k));
      }
    }
  }
};

/// Throws UsageError for more Views than Columns has parts.
Columns columns_of(std::span<const infer::Samples> views);

/// A dense matrix of numbers, one row a sample.
struct Rows {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t width = 0;

  KOKKOS_INLINE_FUNCTION double get(std::int64_t row, std::int64_t column) const {
    return load(data, dtype, row * width + column);
  }
  KOKKOS_INLINE_FUNCTION void set(std::int64_t row, std::int64_t column, double value) const {
    store(data, dtype, row * width + column, value);
  }
};

/// Everything after the first dimension is flattened.
Rows rows_of(const Tensor& tensor);

}  // namespace zygos::insitu
