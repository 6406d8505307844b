// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread of a host lane has a block, with the host's BLAS for its products.
#include "ops/attention.hpp"

#include "ops/attention_teams.hpp"
#include "ops/for_each_space.hpp"
#include "ops/launch.hpp"

#include "zygos/core/error.hpp"

#include <cmath>

namespace zygos::ops {
namespace {

using attention::Problem;
using attention::Tiles;

template <class T>
struct HostTeam {
  static constexpr std::size_t block = 64;

  Tiles<T, block>& tiles;

  template <class F>
  KOKKOS_FUNCTION void each(std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) {
      f(i);
    }
  }
  KOKKOS_FUNCTION void barrier() const {}
  KOKKOS_FUNCTION void multiply([[maybe_unused]] const StridedProduct<T>& product) const {
    KOKKOS_IF_ON_HOST((blas_multiply(product);))
  }
};

/// One position of a block more than others is one piece of work more.
template <class T, HostSpace Exec, class Body>
void for_each_block(const char* label, const Exec& exec, const Problem<T>& problem,
                    const Body& body) {
  const std::size_t items =
      problem.shape.samples * problem.shape.heads * problem.blocks(HostTeam<T>::block);
  for_each_piece(label, exec, static_cast<std::int64_t>(items), 1, [&](std::int64_t item) {
    Tiles<T, HostTeam<T>::block> tiles;
    body(HostTeam<T>{tiles}, static_cast<std::size_t>(item));
  });
}

template <class T, DeviceSpace Exec, class Body>
void for_each_block(const char* label, const Exec& exec, const Problem<T>& problem,
                    const Body& body) {
  constexpr std::size_t block = attention::DeviceTeam<T, int>::block;
  attention::for_each_team<T>(
      label, exec, problem.shape.samples * problem.shape.heads * problem.blocks(block), body);
}

}  // namespace

template <class Exec, class T>
void causal_attention(const Exec& exec, const AttentionShape& shape,
                      const AttentionDropout<Exec>& dropout, MatrixView<Exec, const T> qkv,
                      MatrixView<Exec, T> y, VectorView<Exec, T> log_sums) {
  ZYGOS_REQUIRE(qkv.extent(0) == shape.rows() && qkv.extent(1) == 3 * shape.columns() &&
                    y.extent(0) == shape.rows() && y.extent(1) == shape.columns() &&
                    log_sums.size() == shape.rows() * shape.heads,
                "ops::causal_attention: extents do not fit");
  const Problem<T> problem = attention::problem_of(shape, dropout, qkv);
  for_each_block("zygos::ops::causal_attention", exec, problem,
                 attention::Forward<T>{problem, y.data(), log_sums.data()});
}

template <class Exec, class T>
void causal_attention_backward(const Exec& exec, const AttentionShape& shape,
                               const AttentionDropout<Exec>& dropout,
                               const AttentionKept<Exec, T>& kept, MatrixView<Exec, const T> d_y,
                               VectorView<Exec, T> dots, MatrixView<Exec, T> d_qkv) {
  ZYGOS_REQUIRE(kept.qkv.size() == d_qkv.size() && kept.y.size() == d_y.size() &&
                    kept.qkv.size() == 3 * shape.rows() * shape.columns() &&
                    dots.size() == kept.log_sums.size(),
                "ops::causal_attention_backward: extents do not fit");
  const Problem<T> problem = attention::problem_of(shape, dropout, kept.qkv);
  const attention::Backward<T> both{problem,    kept.y.data(), kept.log_sums.data(),
                                    d_y.data(), dots.data(),   d_qkv.data()};
  for_each_block("zygos::ops::attention_d_queries", exec, problem,
                 attention::BackwardQueries<T>{both});
  for_each_block("zygos::ops::attention_d_keys", exec, problem, attention::BackwardKeys<T>{both});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                \
  template void causal_attention<SPACE, T>(                                             \
      const SPACE&, const AttentionShape&, const AttentionDropout<SPACE>&,              \
      MatrixView<SPACE, const T>, MatrixView<SPACE, T>, VectorView<SPACE, T>);          \
  template void causal_attention_backward<SPACE, T>(                                    \
      const SPACE&, const AttentionShape&, const AttentionDropout<SPACE>&,              \
      const AttentionKept<SPACE, T>&, MatrixView<SPACE, const T>, VectorView<SPACE, T>, \
      MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
