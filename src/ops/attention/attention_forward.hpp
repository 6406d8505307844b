// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The results of one block of queries, for a team of threads: one thread of a host or many of
// a device. A team has
//   block                  positions of a block, a multiple of 32
//   diagonal               how many of them are multiplied at a time by no more than they see
//   columns                of a head that are summed at a time where results are bf16
//   scratch                  its BlockScratch
//   each(count, f)         f(0), ..., f(count - 1), shared out
//   multiply(product)      a StridedGemm, operands as they are stored
//   keep(i, rows...)       rows that products a b^T have in common, the first or second kept ones
//   multiply_kept(i, which, begin, product)    such a product, whose operand are those from begin
//   barrier()
#pragma once

#include "ops/attention/attention_problem.hpp"
#include "ops/common/exponential.hpp"
#include "ops/common/tree_reduction.hpp"

#include <Kokkos_Core.hpp>

namespace zygos::ops::attention {

template <class T>
struct Forward {
  Problem<T> problem;
  T* y;
  Wide<T>* log_sums;

  /// The last blocks of queries first: of causal attention they see the most keys.
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, std::size_t item) const {
    const std::size_t blocks = problem.blocks(Team::block);
    const Head<T> head = problem.head(item / blocks);
    const std::size_t first = (blocks - 1 - item % blocks) * Team::block;
    const std::size_t count = problem.count(first, Team::block);
    team.keep(0, head.q + first * head.stride, head.stride, count, problem.shape.width);
    const std::size_t step = columns_together<Team, T>(problem.shape.width);
    for (std::size_t column = 0; column < problem.shape.width; column += step) {
      const std::size_t left = problem.shape.width - column;
      add_columns(team, head, first, count, column, left < step ? left : step);
    }
  }

  /// Columns of the results of `count` queries. The weights are those of whole heads.
  template <class Team>
  KOKKOS_FUNCTION void add_columns(const Team& team, const Head<T>& head, std::size_t first,
                                   std::size_t count, std::size_t column, std::size_t width) const {
    constexpr std::size_t block = Team::block;
    const std::size_t columns = problem.shape.heads * problem.shape.width;
    T* const stored = y + (head.sample_row + first) * columns + head.column + column;
    const Sums<T> out = sums_of(team, 0, stored, columns);
    auto& scratch = team.scratch;
    const std::size_t end = problem.keys_end(first);
    for (std::size_t key = 0; key < end; key += block) {
      const std::size_t keys = problem.count(key, block);
      const bool triangle = problem.triangle(first, key);
      for_each_seen_part<Team>(Operand::second, triangle, count, keys, [&](const Part& part) {
        team.multiply_kept(
            0, Operand::first, part.row,
            problem.scores_of(part, head.q + first * head.stride, head.stride,
                              head.k + key * head.stride, head.stride, scratch.scores, block));
      });
      team.barrier();
      team.each(count, [&](std::size_t row) {
        add_row<block>(head, first + row, key, scratch.scores + row * block, scratch.row_max[row],
                       scratch.sums[row], out.at + row * out.stride, width);
      });
      team.barrier();
      for_each_seen_part<Team>(Operand::first, triangle, count, keys, [&](const Part& part) {
        team.multiply(StridedGemm<Wide<T>, Wide<T>, T>{
            GemmForm::nn, part.rows, width, part.keys, scratch.scores + part.row * block, block,
            head.v + key * head.stride + column, head.stride, out.at + part.row * out.stride,
            out.stride, key > 0});
      });
      team.barrier();
    }
    team.each(count, [&](std::size_t row) {
      const auto share = static_cast<Wide<T>>(1.0 / scratch.sums[row]);
      for (std::size_t j = 0; j < width; ++j) {
        stored[row * columns + j] = static_cast<T>(out.at[row * out.stride + j] * share);
      }
      log_sums[head.numbers + first + row] =
          scratch.row_max[row] + static_cast<Wide<T>>(Kokkos::log(scratch.sums[row]));
    });
    team.barrier();
  }

  /// Scores of the keys that a query sees become their products with the scale, others minus
  /// infinity; returns the largest of them and `before`.
  template <std::size_t block>
  KOKKOS_FUNCTION Wide<T> scale_row(Wide<T>* scores, std::size_t seen, Wide<T> before) const {
    Wide<T> tops[beside];
    for (std::size_t j = 0; j < beside; ++j) {
      tops[j] = before;
    }
    for (std::size_t c = 0; c < block; c += beside) {
      for (std::size_t j = 0; j < beside; ++j) {
        const Wide<T> product = scores[c + j] * problem.scale;  // of all: no branch
        const Wide<T> score = c + j < seen ? product : -Kokkos::Experimental::infinity_v<Wide<T>>;
        scores[c + j] = score;
        tops[j] = score > tops[j] ? score : tops[j];
      }
    }
    return tree_max(tops);
  }

  /// Scores become exponentials of what they are below `row_max`; returns their sum.
  template <std::size_t block>
  KOKKOS_FUNCTION double raise_row(Wide<T>* scores, Wide<T> row_max) const {
    Wide<T> sums[beside] = {};
    for (std::size_t c = 0; c < block; c += beside) {
      for (std::size_t j = 0; j < beside; ++j) {
        scores[c + j] = exponential(scores[c + j] - row_max);
        sums[j] += scores[c + j];
      }
    }
    double wide[beside];
    for (std::size_t j = 0; j < beside; ++j) {
      wide[j] = static_cast<double>(sums[j]);
    }
    return tree_sum(wide);
  }

  /// Scores become weights, less those that are dropped; the row's largest score and its sum are
  /// brought up to date, and with them what was added to `out` so far.
  template <std::size_t block>
  KOKKOS_FUNCTION void add_row(const Head<T>& head, std::size_t query, std::size_t key,
                               Wide<T>* scores, Wide<T>& running_max, double& running_sum,
                               Wide<T>* out, std::size_t width) const {
    const bool begins = key == 0;
    const std::size_t seen = problem.seen(query, key);  // all, or a part of the last block
    const Wide<T> before = begins ? -Kokkos::Experimental::infinity_v<Wide<T>> : running_max;
    const Wide<T> row_max = scale_row<block>(scores, seen, before);
    const double sum = raise_row<block>(scores, row_max);
    if (problem.dropout.threshold > 0) {
      Wide<T> kept[block];
      problem.template draw<block>(head, query, key, kept);
      for (std::size_t c = 0; c < block; ++c) {
        scores[c] *= kept[c];
      }
    }
    const Wide<T> shrunk = exponential(before - row_max);
    running_max = row_max;
    running_sum = begins ? sum : running_sum * static_cast<double>(shrunk) + sum;
    if (!begins && before != row_max) {
      for (std::size_t j = 0; j < width; ++j) {
        out[j] *= shrunk;
      }
    }
  }
};

}  // namespace zygos::ops::attention
