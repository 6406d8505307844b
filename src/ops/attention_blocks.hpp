// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The work on one block of queries or keys, for a team of threads: one thread of a host or many of
// a device. A team has
//   block                  positions of a block, a multiple of 32
//   columns                of a head that are added up at a time where results are bf16
//   tiles                  its Tiles
//   each(count, f)         f(0), ..., f(count - 1), shared out
//   multiply(product)      a StridedProduct, operands as they are stored
//   barrier()
#pragma once

#include "ops/attention.hpp"
#include "ops/attention_tiles.hpp"
#include "ops/exponential.hpp"
#include "ops/strided_product.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>

namespace zygos::ops::attention {

/// One head of one sample.
template <class T>
struct Head {
  const T* q;
  const T* k;
  const T* v;
  std::size_t stride;      ///< from position to position
  std::size_t sample_row;  ///< of the sample's first position, in y
  std::size_t column;      ///< of the head, in y
  std::size_t numbers;     ///< index of its first number in log_sums
  std::uint32_t id;        ///< of the sample
  std::uint32_t head;
};

template <class T>
struct Problem {
  AttentionShape shape;
  Wide<T> scale;
  DropoutMask dropout;
  const std::uint32_t* ids;
  const T* qkv;

  KOKKOS_FUNCTION std::size_t blocks(std::size_t block) const {
    return (shape.positions + block - 1) / block;
  }
  KOKKOS_FUNCTION Head<T> head(std::size_t index) const {
    const std::size_t sample = index / shape.heads;
    const std::size_t head = index % shape.heads;
    const std::size_t columns = shape.heads * shape.width;
    const T* const q = qkv + sample * shape.positions * 3 * columns + head * shape.width;
    return {q,
            q + columns,
            q + 2 * columns,
            3 * columns,
            sample * shape.positions,
            head * shape.width,
            index * shape.positions,
            dropout.threshold == 0 ? 0 : ids[sample],
            static_cast<std::uint32_t>(head)};
  }
  KOKKOS_FUNCTION std::size_t count(std::size_t first, std::size_t block) const {
    return shape.positions - first < block ? shape.positions - first : block;
  }

  /// By what the weights of keys [first, first + block) for a query are multiplied: 0 or `factor`.
  template <std::size_t block>
  KOKKOS_FUNCTION void draw(const Head<T>& head, std::size_t query, std::size_t first,
                            Wide<T> (&kept)[block]) const {
    const std::size_t blocks_of_row = (shape.positions + 3) / 4;
    const auto begin = static_cast<std::uint32_t>(
        (head.head * shape.positions + query) * blocks_of_row + first / 4);
    const auto factor = static_cast<Wide<T>>(dropout.factor);
    std::uint32_t words[block];
    draw_words<block / 4>(dropout.key, head.id, begin, words);
    for (std::size_t i = 0; i < block; ++i) {
      kept[i] = words[i] < dropout.threshold ? Wide<T>(0) : factor;
    }
  }
};

template <class Exec, class T>
Problem<T> problem_of(const AttentionShape& shape, const AttentionDropout<Exec>& dropout,
                      const MatrixView<Exec, const T>& qkv) {
  return {shape, static_cast<Wide<T>>(1.0 / std::sqrt(static_cast<double>(shape.width))),
          dropout.mask, dropout.sample_ids.data(), qkv.data()};
}

/// Numbers side by side that a loop over a row keeps, so that operations need not wait for each
/// other.
inline constexpr std::size_t beside = 32;

template <class T>
struct Forward {
  Problem<T> problem;
  T* y;
  Wide<T>* log_sums;

  /// The last blocks of queries, which see the most keys, first.
  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, std::size_t item) const {
    const std::size_t step = columns_together<Team, T>(problem.shape.width);
    for (std::size_t column = 0; column < problem.shape.width; column += step) {
      const std::size_t left = problem.shape.width - column;
      add_columns(team, item, column, left < step ? left : step);
    }
  }

  /// The weights are those of whole heads.
  template <class Team>
  KOKKOS_FUNCTION void add_columns(const Team& team, std::size_t item, std::size_t column,
                                   std::size_t width) const {
    constexpr std::size_t block = Team::block;
    const std::size_t blocks = problem.blocks(block);
    const Head<T> head = problem.head(item / blocks);
    const std::size_t columns = problem.shape.heads * problem.shape.width;
    const std::size_t first = (blocks - 1 - item % blocks) * block;
    const std::size_t count = problem.count(first, block);
    T* const stored = y + (head.sample_row + first) * columns + head.column + column;
    const Sums<T> out = sums_of(team, 0, stored, columns);
    auto& tiles = team.tiles;
    for (std::size_t key = 0; key <= first; key += block) {
      const std::size_t keys = problem.count(key, block);
      team.multiply(StridedProduct<Wide<T>, T, T>{ProductForm::second_transposed, count, keys,
                                                  problem.shape.width, head.q + first * head.stride,
                                                  head.stride, head.k + key * head.stride,
                                                  head.stride, tiles.scores, block, false});
      team.barrier();
      team.each(count, [&](std::size_t row) {
        add_row<block>(head, first + row, key, tiles.scores + row * block, tiles.most[row],
                       tiles.sums[row], out.at + row * out.stride, width);
      });
      team.barrier();
      team.multiply(StridedProduct<Wide<T>, Wide<T>, T>{
          ProductForm::plain, count, width, keys, tiles.scores, block,
          head.v + key * head.stride + column, head.stride, out.at, out.stride, key > 0});
      team.barrier();
    }
    team.each(count, [&](std::size_t row) {
      const auto share = static_cast<Wide<T>>(1.0 / tiles.sums[row]);
      for (std::size_t j = 0; j < width; ++j) {
        stored[row * columns + j] = static_cast<T>(out.at[row * out.stride + j] * share);
      }
      log_sums[head.numbers + first + row] =
          tiles.most[row] + static_cast<Wide<T>>(Kokkos::log(tiles.sums[row]));
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
        const Wide<T> score = c + j < seen ? scores[c + j] * problem.scale
                                           : -Kokkos::Experimental::infinity_v<Wide<T>>;
        scores[c + j] = score;
        tops[j] = score > tops[j] ? score : tops[j];
      }
    }
    Wide<T> most = before;
    for (const Wide<T> top : tops) {
      most = top > most ? top : most;
    }
    return most;
  }

  /// Scores become exponentials of what they are below `most`; returns their sum.
  template <std::size_t block>
  KOKKOS_FUNCTION double raise_row(Wide<T>* scores, Wide<T> most) const {
    Wide<T> sums[beside] = {};
    for (std::size_t c = 0; c < block; c += beside) {
      for (std::size_t j = 0; j < beside; ++j) {
        scores[c + j] = exponential(scores[c + j] - most);
        sums[j] += scores[c + j];
      }
    }
    double sum = 0.0;
    for (const Wide<T> part : sums) {
      sum += static_cast<double>(part);
    }
    return sum;
  }

  /// Scores become weights, less those that are dropped; the row's largest score and its sum are
  /// brought up to date, and with them what was added to `out` so far.
  template <std::size_t block>
  KOKKOS_FUNCTION void add_row(const Head<T>& head, std::size_t query, std::size_t key,
                               Wide<T>* scores, Wide<T>& known_most, double& known_sum,
                               Wide<T>* out, std::size_t width) const {
    const bool begins = key == 0;
    const std::size_t seen = query + 1 - key;  // all, or a part of the last block
    const Wide<T> before = begins ? -Kokkos::Experimental::infinity_v<Wide<T>> : known_most;
    const Wide<T> most = scale_row<block>(scores, seen, before);
    const double sum = raise_row<block>(scores, most);
    if (problem.dropout.threshold > 0) {
      Wide<T> kept[block];
      problem.template draw<block>(head, query, key, kept);
      for (std::size_t c = 0; c < block; ++c) {
        scores[c] *= kept[c];
      }
    }
    const Wide<T> shrunk = exponential(before - most);
    known_most = most;
    known_sum = begins ? sum : known_sum * static_cast<double>(shrunk) + sum;
    if (!begins && before != most) {
      for (std::size_t j = 0; j < width; ++j) {
        out[j] *= shrunk;
      }
    }
  }
};

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

  /// tiles.scores become weights less those that are dropped, tiles.d_scores the gradients of
  /// scores, of queries [query, query + rows) and keys [key, key + keys).
  template <class Team>
  KOKKOS_FUNCTION void weigh(const Team& team, const Head<T>& head, std::size_t query,
                             std::size_t rows, std::size_t key, std::size_t keys) const {
    constexpr std::size_t block = Team::block;
    auto& tiles = team.tiles;
    const std::size_t width = problem.shape.width;
    team.multiply(StridedProduct<Wide<T>, T, T>{
        ProductForm::second_transposed, rows, keys, width, head.q + query * head.stride,
        head.stride, head.k + key * head.stride, head.stride, tiles.scores, block, false});
    team.multiply(StridedProduct<Wide<T>, T, T>{
        ProductForm::second_transposed, rows, keys, width, d_y + at(head, query), columns(),
        head.v + key * head.stride, head.stride, tiles.d_scores, block, false});
    team.barrier();
    team.each(rows, [&](std::size_t row) {
      weigh_row<block>(head, query + row, key, tiles.scores + row * block,
                       tiles.d_scores + row * block);
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
    const std::size_t seen = query + 1 - key;
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
      double sums[beside] = {};
      for (std::size_t c = 0; c < width; c += beside) {
        for (std::size_t j = 0; j < beside && c + j < width; ++j) {
          sums[j] += static_cast<double>(out[c + j]) * static_cast<double>(d_out[c + j]);
        }
      }
      double sum = 0.0;
      for (const double part : sums) {
        sum += part;
      }
      this->dots[head.numbers + first + row] = static_cast<Wide<T>>(sum);
    });
    team.barrier();
    const std::size_t step = columns_together<Team, T>(width);
    for (std::size_t column = 0; column < width; column += step) {
      const std::size_t some = width - column < step ? width - column : step;
      T* const stored = this->d_q(head, first) + column;
      const Sums<T> d_q = sums_of(team, 0, stored, head.stride);
      for (std::size_t key = 0; key <= first; key += block) {
        const std::size_t keys = whole.count(key, block);
        this->weigh(team, head, first, count, key, keys);
        team.multiply(StridedProduct<Wide<T>, Wide<T>, T>{
            ProductForm::plain, count, some, keys, team.tiles.d_scores, block,
            head.k + key * head.stride + column, head.stride, d_q.at, d_q.stride, key > 0});
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
    const std::size_t step = columns_together<Team, T>(width);
    for (std::size_t column = 0; column < width; column += step) {
      const std::size_t some = width - column < step ? width - column : step;
      T* const d_k = this->d_q(head, first) + this->columns() + column;
      T* const d_v = d_k + this->columns();
      const Sums<T> k_sums = sums_of(team, 0, d_k, head.stride);
      const Sums<T> v_sums = sums_of(team, 1, d_v, head.stride);
      for (std::size_t query = first; query < whole.shape.positions; query += block) {
        const std::size_t rows = whole.count(query, block);
        this->weigh(team, head, query, rows, first, count);
        team.multiply(StridedProduct<Wide<T>, Wide<T>, T>{
            ProductForm::first_transposed, count, some, rows, team.tiles.d_scores, block,
            head.q + query * head.stride + column, head.stride, k_sums.at, k_sums.stride,
            query > first});
        team.multiply(StridedProduct<Wide<T>, Wide<T>, T>{
            ProductForm::first_transposed, count, some, rows, team.tiles.scores, block,
            this->d_y + this->at(head, query) + column, this->columns(), v_sums.at, v_sums.stride,
            query > first});
        team.barrier();
      }
      store_sums(team, k_sums, d_k, head.stride, count, some);
      store_sums(team, v_sums, d_v, head.stride, count, some);
    }
  }
};

}  // namespace zygos::ops::attention
