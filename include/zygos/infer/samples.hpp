// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace zygos::infer {

/// Samples in a caller's memory, borrowed. Strides count elements.
struct Samples {
  void* data = nullptr;  ///< of inputs only read
  DType dtype = DType::f32;
  std::int64_t count = 0;
  std::int64_t stride = 0;  ///< from one sample to the next
  Shape shape{};            ///< of a sample
  std::array<std::int64_t, Shape::max_rank> strides{};

  /// Samples [begin, begin + number).
  Samples part(std::int64_t begin, std::int64_t number) const;
  /// Whether samples lie one behind the other, row major and without gaps.
  bool is_dense() const;
};

template <class Element>
inline constexpr bool is_sample_element =
    std::is_same_v<Element, float> || std::is_same_v<Element, double> ||
    std::is_same_v<Element, bf16>;

/// A View of rank 1 to 7 and of any layout, its first extent counting samples; (N) are N samples of
/// one number.
template <class View>
Samples samples_of(const View& view) {
  static_assert(Kokkos::is_view_v<View>, "samples are given as Kokkos Views");
  using Element = typename View::non_const_value_type;
  static_assert(is_sample_element<Element>, "elements are float, double or zygos::bf16");
  static_assert(View::rank() >= 1 && View::rank() <= Shape::max_rank + 1,
                "the first extent counts samples, the others are those of a sample");
  Samples out;
  out.data = const_cast<Element*>(view.data());
  out.dtype = dtype_of<Element>;
  out.count = static_cast<std::int64_t>(view.extent(0));
  out.stride = static_cast<std::int64_t>(view.stride(0));
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  for (std::size_t axis = 1; axis < View::rank(); ++axis) {
    dimensions[axis - 1] = static_cast<std::int64_t>(view.extent(axis));
    out.strides[axis - 1] = static_cast<std::int64_t>(view.stride(axis));
  }
  out.shape = Shape(std::span<const std::int64_t>(dimensions.data(), View::rank() - 1));
  return out;
}

}  // namespace zygos::infer
