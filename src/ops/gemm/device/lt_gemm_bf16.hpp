// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of bf16 by cuBLASLt, which wants both operands as bf16: weights, which are floats, are
// rounded into memory of the stream first. A header, so that a test can compute it on a host.
//
// The library's bias has the type of its result, ours is a float, and what is done to a sum comes
// before it is rounded: where there is a bias or an activation, the result of the library is
// floats, with the bias, in memory of the stream, and a kernel of ours does the rest.
#pragma once

#include "ops/codec/bf16_codec.hpp"
#include "ops/common/blocking.hpp"
#include "ops/gemm/device/cublas_lt_process.hpp"
#include "ops/gemm/device/finish.hpp"
#include "ops/gemm/device/team_gemm_bf16.hpp"
#include "ops/gemm/gemm.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// What sums of a product take at a time: more rows are multiplied one part after the other. Less
/// than the second-level cache of a card with 50 MiB, and tiles enough for all multiprocessors.
inline constexpr std::size_t lt_sums_bytes = std::size_t{32} << 20U;

namespace detail {

/// Rows that are multiplied together: parts of about one size, of whole tiles if there are many.
inline std::int64_t rows_of_part(std::int64_t rows, std::int64_t columns, std::size_t bytes) {
  constexpr std::int64_t tile = 128;
  const auto sums = static_cast<std::int64_t>(bytes / sizeof(float));
  const std::int64_t most = std::max<std::int64_t>(sums / columns, 1);
  if (rows <= most || most < tile) {
    return std::min(rows, most);
  }
  return round_up(ceil_div(rows, ceil_div(rows, most / tile * tile)), tile);
}

/// From a row on; the last part may have less.
inline LtGemm part_of(const LtGemm& whole, std::uint64_t begin, std::uint64_t rows) {
  LtGemm part = whole;
  part.m = std::min(rows, whole.m - begin);
  part.a = static_cast<const bf16*>(whole.a) + begin * whole.k;
  return part;
}

/// Memory of the stream for `weights` as bf16.
template <class Exec>
VectorView<Exec, bf16> room_for(const LtStream& on, MatrixView<Exec, const float> weights) {
  const std::size_t count = weights.size();
  void* const room = on.library->scratch(LtScratch::weights, count * sizeof(bf16), on.stream);
  return {static_cast<bf16*>(room), count};
}

template <class Exec>
void round_weights(const Exec& exec, MatrixView<Exec, const float> weights,
                   VectorView<Exec, bf16> rounded) {
  encode_bf16<Exec, float>(exec, {weights.data(), weights.size()}, rounded);
}

template <class Exec, class Result>
LtGemm lt_bf16_product(LtForm form, MatrixView<Exec, const bf16> a, const bf16* b,
                       MatrixView<Exec, Result> c) {
  LtGemm product;
  product.form = form;
  product.type = LtType::bf16;
  product.result = std::is_same_v<Result, bf16> ? LtType::bf16 : LtType::f32;
  product.m = c.extent(0);
  product.n = c.extent(1);
  product.k = a.extent(form == LtForm::first_transposed ? 0 : 1);
  product.a = a.data();
  product.b = b;
  product.c = c.data();
  return product;
}

/// The product with weights, rounded by the library.
template <class Exec>
bool multiply_and_round(const Exec& exec, const LtStream& on, LtForm form,
                        MatrixView<Exec, const bf16> a, MatrixView<Exec, const float> b,
                        MatrixView<Exec, bf16> c) {
  const auto weights = room_for<Exec>(on, b);
  const LtGemm product = lt_bf16_product<Exec, bf16>(form, a, weights.data(), c);
  if (!on.library->has_algorithm(product)) {
    return false;
  }
  round_weights<Exec>(exec, b, weights);
  return on.library->multiply(product, on.stream) == LtOutcome::done;
}

/// The product with bias and activation, which are rounded behind the library, part by part.
template <class Exec>
bool multiply_and_finish(const Exec& exec, const LtStream& on, MatrixView<Exec, const bf16> a,
                         MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c,
                         const Epilogue<Exec, bf16>& epilogue, std::size_t sums_bytes) {
  const auto weights = room_for<Exec>(on, b);
  const auto rows =
      static_cast<std::uint64_t>(rows_of_part(extent_of(c, 0), extent_of(c, 1), sums_bytes));
  LtGemm product = lt_bf16_product<Exec, bf16>(LtForm::plain, a, weights.data(), c);
  product.result = LtType::f32;
  product.bias = epilogue.bias.data();
  product.c = on.library->scratch(LtScratch::sums, rows * product.n * sizeof(float), on.stream);
  for (std::uint64_t begin = 0; begin < product.m; begin += rows) {
    if (!on.library->has_algorithm(part_of(product, begin, rows))) {
      return false;
    }
  }
  round_weights<Exec>(exec, b, weights);
  for (std::uint64_t begin = 0; begin < product.m; begin += rows) {
    const LtGemm part = part_of(product, begin, rows);
    on.library->multiply(part, on.stream);
    finish_sums<Exec, bf16>("zygos::ops::gemm_epilogue", exec, part.m, part.n,
                            static_cast<const float*>(part.c), c.data() + begin * part.n,
                            {{}, epilogue.activation});
  }
  return true;
}

}  // namespace detail

/// As gemm() of gemm.hpp does. False, and c as it was, if the library has no algorithm or there is
/// nothing to multiply. Throws InternalError as CublasLtGemm does. `sums_bytes`: of a part, but at
/// least a row.
template <class Exec>
bool lt_bf16_gemm(const Exec& exec, const LtStream& on, MatrixView<Exec, const bf16> a,
                  MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c,
                  const Epilogue<Exec, bf16>& epilogue, std::size_t sums_bytes = lt_sums_bytes) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  if (c.size() == 0 || b.size() == 0) {
    return false;
  }
  if (epilogue.bias.data() == nullptr && epilogue.activation == Activation::none) {
    return detail::multiply_and_round<Exec>(exec, on, LtForm::plain, a, b, c);
  }
  return detail::multiply_and_finish<Exec>(exec, on, a, b, c, epilogue, sums_bytes);
}

/// As gemm_tn() does; both operands are bf16 as they are. False and errors as above.
template <class Exec>
bool lt_bf16_gemm_tn(const Exec& exec, const LtStream& on, MatrixView<Exec, const bf16> a,
                     MatrixView<Exec, const bf16> b, MatrixView<Exec, float> c,
                     VectorView<Exec, float> sums, Into into) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  LtGemm product = detail::lt_bf16_product<Exec, float>(LtForm::first_transposed, a, b.data(), c);
  product.added = into == Into::added;
  if (on.library->multiply(product, on.stream) != LtOutcome::done) {
    return false;
  }
  bf16_column_sums(exec, b, sums, product.added);
  return true;
}

/// As gemm_nt() does. False and errors as above.
template <class Exec>
bool lt_bf16_gemm_nt(const Exec& exec, const LtStream& on, MatrixView<Exec, const bf16> a,
                     MatrixView<Exec, const float> b, MatrixView<Exec, bf16> c) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  if (c.size() == 0 || b.size() == 0) {
    return false;
  }
  return detail::multiply_and_round<Exec>(exec, on, LtForm::second_transposed, a, b, c);
}

}  // namespace zygos::ops
