// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// An operand of several products a b^T, copied once into the order in which the kernels of
// thin_product.hpp read it.
#pragma once

#include "ops/strided_product.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Which operand of a product.
enum class Operand { first, second };

/// T is float or double.
template <class T>
class PackedRows {
 public:
  /// Rows, and numbers of all of them, that there is room for: a part of a core's own cache.
  static constexpr std::size_t most_rows = 64;
  static constexpr std::size_t most_numbers = 128 * 1024 / sizeof(T);

  /// Whether there is room for so many rows of so many numbers, and kernels to read them.
  static bool fits(std::size_t rows, std::size_t depth);
  void pack(const T* from, std::size_t stride, std::size_t rows, std::size_t depth);

  /// The product, of form second_transposed, whose operand `which` are these rows from `begin` on,
  /// a multiple of 16: it is not read where the product says. No more than most_rows of the other
  /// if these are the first.
  void multiply(Operand which, std::size_t begin, const StridedProduct<T>& product) const;

 private:
  void multiply_first(std::int64_t begin, const StridedProduct<T>& product) const;
  void multiply_second(std::int64_t begin, const StridedProduct<T>& product) const;
  template <class F>
  void for_each_part_of_panel(std::int64_t begin, std::int64_t count, const F& f) const;

  alignas(64) std::array<T, most_numbers> numbers_;
  std::int64_t rows_ = 0;
  std::int64_t depth_ = 0;
};

}  // namespace zygos::ops
