// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Bias and activation of what a device's library computed, in a pass of their own.
#pragma once

#include "ops/common/row_reduction.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/gemm.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::ops {

/// to = f(from + bias), rounded once, a team a row; `from` may be `to`. The bias has an element per
/// column, or one for each of `bias_rows` rows, again and again: the planes of images, one a
/// channel.
template <Activation which, class From, class To>
struct Finish {
  std::size_t columns;
  const From* from;
  To* to;
  const From* bias;
  std::uint32_t bias_rows;  ///< 0: a bias of columns

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t row) const {
    const From* const in = from + row * columns;
    To* const out = to + row * columns;
    const bool adds = bias != nullptr;
    const bool of_rows = adds && bias_rows != 0;
    // Rows are the teams of a launch, which an int counts.
    const From* const plus = of_rows ? bias + static_cast<std::uint32_t>(row) % bias_rows : bias;
    const std::size_t step = of_rows ? 0 : 1;
    threads.each(columns, [=](std::size_t j) {
      out[j] = static_cast<To>(activated<which>(adds ? in[j] + plus[j * step] : in[j]));
    });
  }
};

/// c (rows, columns) = epilogue(c), in one launch, or none if there is nothing to do.
template <class Exec, class T>
void finish_rows(const char* label, const Exec& exec, std::size_t rows, std::size_t columns, T* c,
                 const Epilogue<Exec, T>& epilogue, std::uint32_t bias_rows = 0) {
  const T* const bias = epilogue.bias.data();
  if (bias == nullptr && epilogue.activation == Activation::none) {
    return;
  }
  with_activation(epilogue.activation, [&](auto constant) {
    for_each_row(label, exec, rows, columns,
                 Finish<decltype(constant)::value, T, T>{columns, c, c, bias, bias_rows});
  });
}

/// c (rows, columns) = epilogue(sums), in one launch, of sums that lie elsewhere.
template <class Exec, class T>
void finish_sums(const char* label, const Exec& exec, std::size_t rows, std::size_t columns,
                 const Wide<T>* sums, T* c, const Epilogue<Exec, T>& epilogue) {
  with_activation(epilogue.activation, [&](auto constant) {
    for_each_row(
        label, exec, rows, columns,
        Finish<decltype(constant)::value, Wide<T>, T>{columns, sums, c, epilogue.bias.data(), 0});
  });
}

}  // namespace zygos::ops
