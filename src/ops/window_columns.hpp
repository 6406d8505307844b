// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/window.hpp"

#include <cstdint>

namespace zygos::ops {

/// The transpose of a window product with stride 1, on a host lane: what every position has for its
/// window, a column, and then for each number of the source the sum of what windows have for it
/// (col2im). Where there are few positions and wide borders that is less work than the window
/// product that the gradient is, too, and which multiplies the zeros around.
template <class T>
class WindowColumns {
 public:
  /// Whether it can be done with the memory of a thread's stack, and takes fewer than `products`
  /// products of registers for a sample.
  static bool pays(const WindowProduct<T>& product, std::int64_t products);

  /// `product`: the forward one. Its `to` is the gradient of its result and read; d_from is
  /// written.
  WindowColumns(const WindowProduct<T>& product, T* d_from) : product_(product), d_from_(d_from) {}

  /// Samples and groups.
  std::int64_t count() const { return product_.samples * product_.groups; }
  /// Writes the channels of a sample's group, which lie side by side.
  void compute(std::int64_t piece) const;

 private:
  void multiply(std::int64_t group, std::int64_t channel, const T* d_to, T* columns) const;
  template <class Masks>
  void collect(const T* columns, std::int64_t row, const Masks& masks, T* out) const;

  WindowProduct<T> product_;
  T* d_from_;
};

}  // namespace zygos::ops
