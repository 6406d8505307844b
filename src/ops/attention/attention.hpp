// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Self-attention, causal or not, without a matrix of all pairs of positions: blocks of scores are
// computed where they are needed, and again in the backward pass (Dao, "FlashAttention-2", 2023,
// with the gradients of queries and keys in a pass each, so that every sum has one order).
#pragma once

#include "ops/elementwise/dropout.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::ops {

struct AttentionShape {
  std::size_t samples;
  std::size_t positions;
  std::size_t heads;
  std::size_t width;           ///< of a head
  std::size_t first_head = 0;  ///< of a slice: its first head, for random numbers
  bool causal = true;          ///< a query sees no keys behind its own position; false: it sees all

  std::size_t rows() const { return samples * positions; }
  std::size_t columns() const { return heads * width; }
};

/// Which weights are dropped: word j % 4 of block j / 4 of row (head, i) is that of the weight of
/// position j for position i, heads counted from first_head. None where the threshold is 0.
template <class Exec>
struct AttentionDropout {
  DropoutMask mask{{}, 0, 1.0};
  VectorView<Exec, const std::uint32_t> sample_ids;  ///< (samples)
};

/// y_i = sum over the j that i sees (j <= i if causal, otherwise all) of w_ij v_j, where w_i is the
/// softmax of q_i k_j / sqrt(width), some of it dropped. A row of `qkv` has the queries of all
/// heads, then keys, then values; a row of y all heads. `log_sums` (samples, heads, positions) gets
/// the logarithms of the softmax's denominators. Products of bf16 are those of floats.
template <class Exec, class T>
void self_attention(const Exec& exec, const AttentionShape& shape,
                    const AttentionDropout<Exec>& dropout, MatrixView<Exec, const T> qkv,
                    MatrixView<Exec, T> y, VectorView<Exec, Wide<T>> log_sums);

/// What the backward pass reads.
template <class Exec, class T>
struct AttentionKept {
  MatrixView<Exec, const T> qkv;
  MatrixView<Exec, const T> y;
  VectorView<Exec, const Wide<T>> log_sums;
};

/// d_qkv from d_y. `dots`, as large as `log_sums`, is scratch.
template <class Exec, class T>
void self_attention_backward(const Exec& exec, const AttentionShape& shape,
                             const AttentionDropout<Exec>& dropout,
                             const AttentionKept<Exec, T>& kept, MatrixView<Exec, const T> d_y,
                             VectorView<Exec, Wide<T>> dots, MatrixView<Exec, T> d_qkv);

}  // namespace zygos::ops
