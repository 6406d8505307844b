// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/conv/host/im2col_panel.hpp"
#include "ops/conv/implicit_gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace zygos::ops {

/// Chunks of samples that a gradient's sum is cut into: at limit, and as long as they are small.
inline constexpr std::int64_t max_chunks = 16;
inline constexpr std::int64_t chunk_numbers = std::int64_t{1} << 20;
/// Chunks of so many samples, or groups of them, whose sums take so many elements each.
inline std::int64_t gradient_chunks(std::int64_t samples, std::int64_t numbers) {
  const std::int64_t limit = chunk_numbers / std::max<std::int64_t>(numbers, 1);
  return std::clamp<std::int64_t>(std::min(samples, limit), 1, max_chunks);
}

/// The gradient of a convolution's weights on a host lane, vectors of output pixels: sums over all
/// samples and pixels, in chunks of samples whose partial sums are reduced at the end.
template <class T>
class NchwWeightGradient {
 public:
  /// product.to is the gradient of the result; product.weights isn't read.
  NchwWeightGradient(const ImplicitGemm<T>& product, Wide<T>* partial_sums);
  /// Elements that partial_sums needs.
  static std::int64_t partial_elements(const ImplicitGemm<T>& product);

  /// Cycles for a sample and a group, about.
  static double cycles(const ImplicitGemm<T>& product);

  std::int64_t count() const { return chunks_ * blocks_ * product_.groups; }
  void compute(std::int64_t piece) const;
  /// Elements of `row`, of all groups' rows, in the gradient (groups * rows, depth).
  void add_up(std::int64_t row, Wide<T>* gradient, bool added) const;

 private:
  struct Block {
    std::int64_t group;
    std::int64_t channel;
    std::int64_t channels;
    std::int64_t stride;
    Wide<T>* sums;  ///< (rows, stride)
  };
  /// Rows of pixels, over all samples: row / y.pixels is the sample.
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };
  explicit NchwWeightGradient(const ImplicitGemm<T>& product);
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

  ImplicitGemm<T> product_;
  PanelPlan plan_;
  bool direct_;
  Wide<T>* partial_sums_ = nullptr;
  std::int64_t max_channels_;  ///< of a block
  std::int64_t blocks_;
  std::int64_t chunks_ = 1;
  std::int64_t of_block_ = 0;  ///< elements
};

}  // namespace zygos::ops
