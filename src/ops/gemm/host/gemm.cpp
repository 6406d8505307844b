// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GEMM of host lanes for float and double: threads over tiles of the result.
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/gemm/host/column_sums.hpp"
#include "ops/gemm/host/finish.hpp"
#include "ops/gemm/host/planned_gemm.hpp"
#include "ops/gemm/host/split_k.hpp"
#include "ops/gemm/host/work.hpp"

#include <cstdint>

namespace zygos::ops {
namespace {

/// Split-K: the partial products, then their sum.
template <class Exec, class T>
void multiply_parts(const Exec& exec, const HostGemm<T>& operands, T* sums) {
  SplitK<T> parts(operands, sums);
  for_each_piece("zygos::ops::gemm_tn", exec, SplitK<T>::parts, 1,
                 [&](std::int64_t part) { parts.multiply(part); });
  for_each_piece("zygos::ops::gemm_tn_sums", exec, parts.blocks(), 1,
                 [&](std::int64_t block) { parts.add(block); });
}

template <class View>
std::int64_t rows(const View& view) {
  return static_cast<std::int64_t>(view.extent(0));
}

template <class View>
std::int64_t columns(const View& view) {
  return static_cast<std::int64_t>(view.extent(1));
}

}  // namespace

template <class Exec, class T>
void gemm(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
          MatrixView<Exec, T> c, const Epilogue<Exec, T>& epilogue, Products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(0) && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm: dimensions do not fit");
  const PlannedGemm<T> product(
      {GemmForm::nn, rows(c), columns(c), columns(a), a.data(), b.data(), c.data()},
      exec.concurrency());
  const T* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    constexpr bool cheap = which == Activation::none || which == Activation::relu;
    const auto size = gemm_work(product.m, product.n, product.k);
    const std::int64_t more = cheap ? 0 : product.m * product.n * exponential_volume;
    const auto pieces = grain_size({size.volume + more, size.elements}, product.tiles());
    for_each_piece("zygos::ops::gemm", exec, product.tiles(), pieces, [&](std::int64_t piece) {
      const GemmTile tile = product.compute(piece);
      if (!plain) {
        finish<which>(tile, product.n, bias, product.c);
      }
    });
  });
}

template <class Exec, class T>
void gemm_tn(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const T> b,
             MatrixView<Exec, Wide<T>> c, VectorView<Exec, Wide<T>> sums, Into into, Products) {
  ZYGOS_REQUIRE(
      a.extent(0) == b.extent(0) && a.extent(1) == c.extent(0) && b.extent(1) == c.extent(1),
      "ops::gemm_tn: dimensions do not fit");
  const HostGemm<T> operands{GemmForm::tn, rows(c),  columns(c), rows(a),
                             a.data(),     b.data(), c.data(),   into == Into::added};
  if (gemm_algorithm<T>({operands.form, operands.m, operands.n, operands.k}) ==
      GemmAlgorithm::split_k) {
    return multiply_parts(exec, operands, sums.data());
  }
  const PlannedGemm<T> product(operands, exec.concurrency());
  const std::int64_t tiles = product.tiles();
  const std::int64_t blocks = sums.size() == 0 ? 0 : ceil_div(product.n, sum_columns);
  // The sums come last: they are short and even out the end.
  for_each_piece("zygos::ops::gemm_tn", exec, tiles + blocks,
                 grain_size(gemm_tn_work(product.m, product.n, product.k), tiles + blocks),
                 [&](std::int64_t piece) {
                   if (piece < tiles) {
                     product.compute(piece);
                   } else {
                     sum_block(product.b, product.k, product.n, piece - tiles, sums.data(), into);
                   }
                 });
}

template <class Exec, class T>
void gemm_nt(const Exec& exec, MatrixView<Exec, const T> a, MatrixView<Exec, const Wide<T>> b,
             MatrixView<Exec, T> c, Products) {
  ZYGOS_REQUIRE(
      a.extent(1) == b.extent(1) && a.extent(0) == c.extent(0) && b.extent(0) == c.extent(1),
      "ops::gemm_nt: dimensions do not fit");
  const PlannedGemm<T> product(
      {GemmForm::nt, rows(c), columns(c), columns(a), a.data(), b.data(), c.data()},
      exec.concurrency());
  for_each_piece("zygos::ops::gemm_nt", exec, product.tiles(),
                 grain_size(gemm_work(product.m, product.n, product.k), product.tiles()),
                 [&](std::int64_t piece) { product.compute(piece); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                            \
  template void gemm<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,            \
                               MatrixView<SPACE, const T>, MatrixView<SPACE, T>,    \
                               const Epilogue<SPACE, T>&, Products);                \
  template void gemm_tn<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, \
                                  VectorView<SPACE, T>, Into, Products);            \
  template void gemm_nt<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,         \
                                  MatrixView<SPACE, const T>, MatrixView<SPACE, T>, Products);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
