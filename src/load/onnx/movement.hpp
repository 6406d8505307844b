// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators of ONNX that move elements and compute nothing.
#pragma once

#include "zygos/nn/onnx_reading.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::load {

struct Movement {
  Shape shape;
  /// By element of the output its index in the input; none for all of them in order.
  std::vector<std::int64_t> from{};

  bool keeps_order() const { return from.empty() && shape.size() > 0; }
};

/// (A, B) if element (b, a) of the order, as (B, A), is element (a, b): that of a transposed matrix
/// of `order.size()` elements with two rows or more, and as many columns. Nothing otherwise.
std::optional<Shape> transposed_from(const std::vector<std::int64_t>& order);

/// The index of the first axis of `sample`, which has several, whose elements these are, all of
/// them in order. Nothing otherwise.
std::optional<std::int64_t> row_of(const std::vector<std::int64_t>& order, const Shape& sample);

/// Whether an operator moves elements of its first input, as its other inputs say.
bool is_movement(std::string_view type);

/// What becomes of an input of this shape in the output of this number. `other`: another
/// input, by its number. Throws UsageError where that is not possible.
Movement moved(const nn::OnnxOperator& op, std::size_t output, const Shape& input,
               const std::function<const nn::OnnxConstant&(std::size_t)>& other);

/// Calls f(indices) for every element in order.
template <class F>
void for_each_index(const Shape& shape, const F& f) {
  std::vector<std::int64_t> at(shape.rank(), 0);
  for (std::int64_t i = 0; i < shape.size(); ++i) {
    f(at);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) {
        break;
      }
      at[axis] = 0;
    }
  }
}

/// Row-major index of an element; indices count from the last axis, and are 0 along an extent of 1.
std::int64_t broadcast_index(const Shape& shape, const std::vector<std::int64_t>& at);
/// Throws UsageError for more elements than a constant should have, 2^28.
void require_moderate(const Shape& shape);
/// That both broadcast to. Throws UsageError if there is none.
Shape broadcast_shape(const Shape& one, const Shape& other);
/// From 0; a negative axis counts from behind. Throws UsageError for none of `rank`.
std::size_t axis_of(std::int64_t axis, std::size_t rank);

}  // namespace zygos::load
