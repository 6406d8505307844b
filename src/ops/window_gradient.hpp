// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/window.hpp"
#include "ops/window_panel.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// Chunks of samples that a gradient's sum is cut into: at most, and as long as they are small.
inline constexpr std::int64_t most_chunks = 16;
inline constexpr std::int64_t chunk_numbers = std::int64_t{1} << 20;
/// Chunks of so many samples, or groups of them, whose sums take so many numbers each.
inline std::int64_t gradient_chunks(std::int64_t samples, std::int64_t numbers) {
  const std::int64_t most = chunk_numbers / std::max<std::int64_t>(numbers, 1);
  return std::clamp<std::int64_t>(std::min(samples, most), 1, most_chunks);
}

/// The gradient of a window product's weights on a host lane: sums over all samples and positions,
/// in chunks of samples that are added up at the end.
template <class T>
class WindowGradient {
 public:
  /// product.to is the gradient of the result; product.weights isn't read.
  WindowGradient(const WindowProduct<T>& product, Wide<T>* partial_sums);
  /// Numbers that partial_sums needs.
  static std::int64_t partial_numbers(const WindowProduct<T>& product);

  /// What it takes for a sample and a group, about.
  static double cycles(const WindowProduct<T>& product);

  std::int64_t count() const { return chunks_ * blocks_ * product_.groups; }
  void compute(std::int64_t piece) const;
  /// Numbers of `row`, of all groups' rows, in the gradient (groups * rows, depth).
  void add_up(std::int64_t row, Wide<T>* gradient, bool added) const;

 private:
  struct Block {
    std::int64_t group;
    std::int64_t channel;
    std::int64_t channels;
    std::int64_t stride;
    Wide<T>* sums;  ///< (rows, stride)
  };
  /// Rows of positions, over all samples: row / y.positions is the sample.
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };
  explicit WindowGradient(const WindowProduct<T>& product);
  Block block_of(std::int64_t chunk, std::int64_t group, std::int64_t block) const;

  /// Rows whose vectors are used where they lie, if they are wide enough; others are packed.
  bool is_direct() const;
  std::int64_t vectors_of_row() const;
  Rows next_rows(const Rows& left) const;
  void add_rows(const Rows& rows, const Block& block, bool first) const;
  template <class Slots>
  void correlate_all(const Rows& rows, const Block& block, const Slots& slots, const Wide<T>* seen,
                     bool added) const;
  static constexpr bool is_narrow = !std::is_same_v<T, Wide<T>>;
  void widen(const Rows& rows, const Block& block, std::int64_t first, std::int64_t count,
             Wide<T>* out) const;
  void multiply_packed(const Block& block, const T* d_to, std::int64_t count, const Wide<T>* packed,
                       bool added) const;
  void add_sample(std::int64_t sample, const Block& block, bool first) const;

  WindowProduct<T> product_;
  PanelPlan plan_;
  bool direct_;
  Wide<T>* partial_sums_ = nullptr;
  std::int64_t most_channels_;  ///< of a block
  std::int64_t blocks_;
  std::int64_t chunks_ = 1;
  std::int64_t of_block_ = 0;  ///< numbers
};

}  // namespace zygos::ops
