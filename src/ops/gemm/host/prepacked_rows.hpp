// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A prepacked operand of several products a b^T: copied once into the order in which the
// microkernel reads it.
#pragma once

#include "ops/gemm/host/strided_gemm.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// Which operand of a product.
enum class Operand { first, second };

/// T is float or double.
template <class T>
class PrepackedRows {
 public:
  /// Rows, and elements of all of them, that there is room for: a part of a core's own cache.
  static constexpr std::size_t max_rows = 64;
  static constexpr std::size_t max_numbers = 128 * 1024 / sizeof(T);

  /// Whether there is room for so many rows of so many elements, and kernels to read them.
  static bool fits(std::size_t rows, std::size_t depth);
  void pack(const T* from, std::size_t stride, std::size_t rows, std::size_t depth);

  /// The product, of form nt, whose operand `which` are these rows from `begin` on,
  /// a multiple of 16: it is not read where the product says. No more than max_rows of the other
  /// if these are the first.
  void multiply(Operand which, std::size_t begin, const StridedGemm<T>& product) const;

 private:
  void multiply_first(std::int64_t begin, const StridedGemm<T>& product) const;
  void multiply_second(std::int64_t begin, const StridedGemm<T>& product) const;
  template <class F>
  void for_each_part_of_panel(std::int64_t begin, std::int64_t count, const F& f) const;

  alignas(64) std::array<T, max_numbers> numbers_;
  std::int64_t rows_ = 0;
  std::int64_t depth_ = 0;
};

}  // namespace zygos::ops
