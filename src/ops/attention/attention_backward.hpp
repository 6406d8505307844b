// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a block of queries or keys, for a team as attention_forward.hpp describes it.
#pragma once

#include "ops/attention/attention_problem.hpp"
#include "ops/common/exponential.hpp"
#include "ops/common/tree_reduction.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::ops::attention {

/// What both halves of the backward pass have in common.
template <class T>
struct Backward {
  Problem<T> problem;
  const T* y;
  const Wide<T>* log_sums;
  const T* d_y;
  Wide<T>* dots;
  T* d_qkv;

  KOKKOS_FUNCTION std::size_t columns() const { return problem.shape.heads * problem.shape.width; }
  /// Of a head, in y and d_y.
  KOKKOS_FUNCTION std::size_t at(const Head<T>& head, std::size_t position) const {
    return (head.sample_row + position) * columns() + head.column;
  }
  /// Of its queries, in d_qkv.
  KOKKOS_FUNCTION T* d_q(const Head<T>& head, std::size_t position) const {
    return d_qkv + (head.sample_row + position) * 3 * columns() + head.column;
  }

  /// scratch.scores become weights less those that are dropped, scratch.d_scores the gradients of
  /// scores, of queries [query, query + rows) and keys [key, key + keys). The team has kept either
  /// the queries and their d_y or the keys and their values.
  template <class Team>
  KOKKOS_FUNCTION void weigh(const Team& team, Operand kept, const Head<T>& head, std::size_t query,
                             std::size_t rows, std::size_t key, std::size_t keys) const {
    constexpr std::size_t block = Team::block;
    auto& scratch = team.scratch;
    const Operand cut = kept == Operand::first ? Operand::second : Operand::first;
    for_each_seen_part<Team>(cut, problem.triangle(query, key), rows, keys, [&](const Part& part) {
      const std::size_t begin = kept == Operand::first ? part.row : part.key;
      team.multiply_kept(
          0, kept, begin,
          problem.scores_of(part, head.q + query * head.stride, head.stride,
                            head.k + key * head.stride, head.stride, scratch.scores, block));
      team.multiply_kept(
          1, kept, begin,
          problem.scores_of(part, d_y + at(head, query), columns(), head.v + key * head.stride,
                            head.stride, scratch.d_scores, block));
    });
    team.barrier();
    team.each(rows, [&](std::size_t row) {
      weigh_row<block>(head, query + row, key, scratch.scores + row * block,
                       scratch.d_scores + row * block);
    });
    team.barrier();
  }

  template <std::size_t block>
  KOKKOS_FUNCTION void weigh_row(const Head<T>& head, std::size_t query, std::size_t key,
                                 Wide<T>* scores, Wide<T>* d_scores) const {
    Wide<T> kept[block];
    if (problem.dropout.threshold > 0) {
      problem.template draw<block>(head, query, key, kept);
    } else {
      for (std::size_t c = 0; c < block; ++c) {
        kept[c] = Wide<T>(1);
      }
    }
    const std::size_t seen = problem.seen(query, key);
    const Wide<T> log_sum = log_sums[head.numbers + query];
    const Wide<T> dot = dots[head.numbers + query];
    const Wide<T> scale = problem.scale;
    for (std::size_t c = 0; c < block; ++c) {
      const Wide<T> weight = exponential(scores[c] * scale - log_sum);
      const Wide<T> slope = weight * (kept[c] * d_scores[c] - dot) * scale;
      scores[c] = c < seen ? weight * kept[c] : Wide<T>(0);
      d_scores[c] = c < seen ? slope : Wide<T>(0);
    }
  }
};

template <class T>
KOKKOS_FUNCTION double dot(const T* a, const T* b, std::size_t count) {
  double sums[beside] = {};
  std::size_t i = 0;
  for (; i + beside <= count; i += beside) {
    for (std::size_t j = 0; j < beside; ++j) {
      sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
    }
  }
  for (std::size_t j = 0; i + j < count; ++j) {
    sums[j] += static_cast<double>(a[i + j]) * static_cast<double>(b[i + j]);
  }
  return tree_sum(sums);
}

/// The gradients of a block of queries, and the products d_y y of its rows.
template <class T>
struct BackwardQueries : Backward<T> {
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, std::size_t item) const {
    constexpr std::size_t block = Team::block;
    const Problem<T>& whole = this->problem;
    const std::size_t blocks = whole.blocks(block);
    const std::size_t width = whole.shape.width;
    const Head<T> head = whole.head(item / blocks);
    const std::size_t first = (blocks - 1 - item % blocks) * block;
    const std::size_t count = whole.count(first, block);
    team.each(count, [&](std::size_t row) {
      const T* const out = this->y + this->at(head, first + row);
      const T* const d_out = this->d_y + this->at(head, first + row);
      this->dots[head.numbers + first + row] = static_cast<Wide<T>>(dot(out, d_out, width));
    });
    team.barrier();
    team.keep(0, head.q + first * head.stride, head.stride, count, width);
    team.keep(1, this->d_y + this->at(head, first), this->columns(), count, width);
    const std::size_t step = columns_together<Team, T>(width);
    for (std::size_t column = 0; column < width; column += step) {
      const std::size_t some = width - column < step ? width - column : step;
      T* const stored = this->d_q(head, first) + column;
      const Sums<T> d_q = sums_of(team, 0, stored, head.stride);
      const std::size_t end = whole.keys_end(first);
      for (std::size_t key = 0; key < end; key += block) {
        const std::size_t keys = whole.count(key, block);
        const bool triangle = whole.triangle(first, key);
        this->weigh(team, Operand::first, head, first, count, key, keys);
        for_each_seen_part<Team>(Operand::first, triangle, count, keys, [&](const Part& part) {
          team.multiply(StridedGemm<Wide<T>, Wide<T>, T>{
              GemmForm::nn, part.rows, some, part.keys, team.scratch.d_scores + part.row * block,
              block, head.k + key * head.stride + column, head.stride,
              d_q.at + part.row * d_q.stride, d_q.stride, key > 0});
        });
        team.barrier();
      }
      store_sums(team, d_q, stored, head.stride, count, some);
    }
  }
};

/// The gradients of a block of keys and of its values, when `dots` are there.
template <class T>
struct BackwardKeys : Backward<T> {
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, std::size_t item) const {
    constexpr std::size_t block = Team::block;
    const Problem<T>& whole = this->problem;
    const std::size_t blocks = whole.blocks(block);
    const std::size_t width = whole.shape.width;
    const Head<T> head = whole.head(item / blocks);
    const std::size_t first = item % blocks * block;
    const std::size_t count = whole.count(first, block);
    team.keep(0, head.k + first * head.stride, head.stride, count, width);
    team.keep(1, head.v + first * head.stride, head.stride, count, width);
    const std::size_t step = columns_together<Team, T>(width);
    for (std::size_t column = 0; column < width; column += step) {
      const std::size_t some = width - column < step ? width - column : step;
      T* const d_k = this->d_q(head, first) + this->columns() + column;
      T* const d_v = d_k + this->columns();
      const Sums<T> k_sums = sums_of(team, 0, d_k, head.stride);
      const Sums<T> v_sums = sums_of(team, 1, d_v, head.stride);
      const std::size_t begin = whole.queries_begin(first);
      for (std::size_t query = begin; query < whole.shape.positions; query += block) {
        const std::size_t rows = whole.count(query, block);
        this->weigh(team, Operand::second, head, query, rows, first, count);
        const auto add = [&](const Part& part, const Wide<T>* scores, const T* of_query,
                             std::size_t stride, const Sums<T>& sums) {
          team.multiply(StridedGemm<Wide<T>, Wide<T>, T>{
              GemmForm::tn, part.keys, some, part.rows, scores + part.row * block + part.key, block,
              of_query + part.row * stride + column, stride, sums.at + part.key * sums.stride,
              sums.stride, query > begin});
        };
        for_each_seen_part<Team>(
            Operand::second, whole.triangle(query, first), rows, count, [&](const Part& part) {
              add(part, team.scratch.d_scores, head.q + query * head.stride, head.stride, k_sums);
              add(part, team.scratch.scores, this->d_y + this->at(head, query), this->columns(),
                  v_sums);
            });
        team.barrier();
      }
      store_sums(team, k_sums, d_k, head.stride, count, some);
      store_sums(team, v_sums, d_v, head.stride, count, some);
    }
  }
};

}  // namespace zygos::ops::attention