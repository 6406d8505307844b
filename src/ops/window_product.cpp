// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is copied for the kernels lies on the stack, about 256 KiB at a time.
#include "ops/window_product.hpp"

#include "ops/thin_kernel.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

using namespace thin;

/// Taps times channels that are packed at a time.
constexpr std::int64_t most_k = 256;
/// Chunks that a gradient's sum is cut into: at most, and as long as they are small.
constexpr std::int64_t most_chunks = 16;
constexpr std::int64_t chunk_numbers = std::int64_t{1} << 20;

constexpr Plan plain_plan{.x_along_k = true};
constexpr Plan scattered_plan{.x_along_k = true, .scattered = true};
template <Plan plan>
struct PlanConstant {
  static constexpr Plan value = plan;
};

template <class T>
using Seen = std::array<T, static_cast<std::size_t>(seen_numbers + seen_zeros)>;
template <class T>
using Packed = std::array<T, static_cast<std::size_t>((most_k + 1) * panel<T>)>;

/// Channels of a source that are looked at together: whole ones, at least one.
template <class T>
std::int64_t channels_together(const WindowProduct<T>& product, const PanelPlan& plan) {
  const std::int64_t packed = most_k / std::max<std::int64_t>(product.taps(), 1);
  return std::clamp<std::int64_t>(std::min(packed, plan.channels()), 1,
                                  std::max<std::int64_t>(product.channels, 1));
}

}  // namespace

template <class T>
WindowPieces<T>::WindowPieces(const WindowProduct<T>& product)
    : product_(product),
      plan_(product.y, product.x, panel<T>, std::min(product.rows, most_rows_of_piece)),
      panels_(plan_.count(product.samples)),
      row_blocks_(divided_up(product.rows, most_rows_of_piece)) {}

template <class T>
std::int64_t WindowPieces<T>::volume() const {
  return std::min(product_.rows, most_rows_of_piece) * panel<T> * product_.depth();
}

template <class T>
typename WindowPieces<T>::Piece WindowPieces<T>::operator[](std::int64_t index) const {
  const std::int64_t of_group = panels_ * row_blocks_;
  const std::int64_t block = index % of_group / panels_;
  const PanelPlan::Range range = plan_.range(index % panels_, product_.samples);
  const std::int64_t first = product_.rows * block / row_blocks_;
  return {range, index / of_group, first, product_.rows * (block + 1) / row_blocks_ - first};
}

template <class T>
Panel<T> WindowPieces<T>::panel_of(const Piece& piece) const {
  return {product_.y, product_.x, plan_, piece.range,
          product_.groups * product_.rows * product_.to_plane()};
}

template <class T>
void WindowPieces<T>::compute(const Piece& piece, const Panel<T>& panel, Tile& tile) const {
  alignas(line_bytes) Seen<T> seen;
  const std::int64_t plane = product_.from_plane();
  const std::int64_t of_sample = product_.groups * product_.channels * plane;
  for_each_depth(product_.channels, channels_together(product_, plan_),
                 [&](std::int64_t channel, std::int64_t channels) {
                   panel.load(product_.from + (piece.group * product_.channels + channel) * plane,
                              of_sample, channels, seen.data());
                   multiply(panel, piece, channel, channels, seen.data(), tile);
                 });
}

template <class T>
void WindowPieces<T>::multiply(const Panel<T>& panel, const Piece& piece, std::int64_t channel,
                               std::int64_t channels, const T* seen, Tile& tile) const {
  const std::int64_t vectors = divided_up(panel.positions(), width<T>);
  const std::int64_t depth = product_.depth();
  const T* const weights = product_.weights +
                           (piece.group * product_.rows + piece.first_row) * depth +
                           channel * product_.taps();
  const auto multiply_rows = [&](auto plan, std::int64_t begin, const Block<T>& taps) {
    for_each_part(0, piece.rows, most_rows, [&](std::int64_t row, std::int64_t rows, std::int64_t) {
      Block<T> block = taps;
      block.x = weights + row * depth + begin;
      block.x_stride = depth;
      block.c = tile.data() + row * thin::panel<T>;
      block.c_stride = thin::panel<T>;
      block.added = channel + begin > 0;
      multiply_vectors<decltype(plan)::value>(vectors, rows, block);
    });
  };
  if (plan_.direct()) {
    std::array<std::int32_t, static_cast<std::size_t>(most_k)> offsets;
    for_each_depth(channels * product_.taps(), most_k, [&](std::int64_t begin, std::int64_t count) {
      panel.find_taps(begin, count, offsets.data());
      multiply_rows(PlanConstant<scattered_plan>{}, begin,
                    {.k = count, .y = seen, .offsets = offsets.data()});
    });
    return;
  }
  alignas(line_bytes) Packed<T> packed;
  for_each_depth(channels * product_.taps(), most_k, [&](std::int64_t begin, std::int64_t count) {
    panel.pack_taps(seen, begin, count, vectors * width<T>, packed.data());
    multiply_rows(PlanConstant<plain_plan>{}, begin,
                  {.k = count, .y = packed.data(), .y_stride = vectors * width<T>});
  });
}

template <class T>
void WindowPieces<T>::store(const Piece& piece, const Panel<T>& panel, const Tile& tile) const {
  T* const to = product_.to + (piece.group * product_.rows + piece.first_row) * product_.to_plane();
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    panel.scatter(tile.data() + row * thin::panel<T>, to + row * product_.to_plane());
  }
}

// ---------------------------------------------------------------- gradient of the weights

template <class T>
WindowGradient<T>::WindowGradient(const WindowProduct<T>& product)
    : product_(product),
      plan_(product.y, product.x, panel<T>),
      most_channels_(channels_together(product, plan_)),
      blocks_(divided_up(product.channels, most_channels_)) {
  of_block_ =
      product.rows *
      rounded_up(divided_up(product.channels, std::max<std::int64_t>(blocks_, 1)) * product.taps(),
                 width<T>);
  const std::int64_t of_chunk = std::max<std::int64_t>(product.groups * blocks_ * of_block_, 1);
  chunks_ =
      std::clamp<std::int64_t>(std::min(product.samples, chunk_numbers / of_chunk), 1, most_chunks);
}

template <class T>
WindowGradient<T>::WindowGradient(const WindowProduct<T>& product, T* partial_sums)
    : WindowGradient(product) {
  partial_sums_ = partial_sums;
}

template <class T>
std::int64_t WindowGradient<T>::partial_numbers(const WindowProduct<T>& product) {
  const WindowGradient gradient(product);
  return gradient.count() * gradient.of_block_;
}

template <class T>
typename WindowGradient<T>::Block WindowGradient<T>::block_of(std::int64_t chunk,
                                                              std::int64_t group,
                                                              std::int64_t block) const {
  const std::int64_t channel = product_.channels * block / blocks_;
  const std::int64_t channels = product_.channels * (block + 1) / blocks_ - channel;
  return {channel, channels, rounded_up(channels * product_.taps(), width<T>),
          partial_sums_ + ((chunk * product_.groups + group) * blocks_ + block) * of_block_};
}

template <class T>
void WindowGradient<T>::compute(std::int64_t piece) const {
  const std::int64_t block = piece % blocks_;
  const std::int64_t group = piece / blocks_ % product_.groups;
  const std::int64_t chunk = piece / blocks_ / product_.groups;
  const Block part = block_of(chunk, group, block);
  const std::int64_t begin = product_.samples * chunk / chunks_;
  const std::int64_t end = product_.samples * (chunk + 1) / chunks_;
  if (begin == end || product_.positions() == 0) {
    std::fill_n(part.sums, of_block_, T(0));
  }
  for (std::int64_t sample = begin; sample < end; ++sample) {
    add_sample(sample, group, part, sample == begin);
  }
}

template <class T>
void WindowGradient<T>::add_sample(std::int64_t sample, std::int64_t group, const Block& block,
                                   bool first) const {
  alignas(line_bytes) Seen<T> seen;
  alignas(line_bytes) Packed<T> packed;
  const std::int64_t plane = product_.from_plane();
  const T* const from =
      product_.from +
      ((sample * product_.groups + group) * product_.channels + block.channel) * plane;
  const std::int64_t positions = product_.positions();
  const T* const d_to =
      product_.to + (sample * product_.groups + group) * product_.rows * positions;
  // Rows of packed positions that fit.
  const std::int64_t most = most_k * panel<T> / block.stride;
  for (std::int64_t index = 0; index < plan_.count(1); ++index) {
    const PanelPlan::Range range = plan_.range(index, 1);
    for_each_part(
        range.begin, range.count, most, [&](std::int64_t q, std::int64_t count, std::int64_t) {
          const Panel<T> seen_panel(product_.y, product_.x, plan_, {0, q, count}, 0);
          seen_panel.load(from, 0, block.channels, seen.data());
          seen_panel.pack_positions(seen.data(), block.channels, block.stride, packed.data());
          for_each_part(
              0, product_.rows, most_rows, [&](std::int64_t row, std::int64_t rows, std::int64_t) {
                for (std::int64_t v = 0; v < block.stride; v += panel<T>) {
                  multiply_vectors<plain_plan>(
                      std::min<std::int64_t>(most_vectors, (block.stride - v) / width<T>), rows,
                      thin::Block<T>{count, d_to + row * positions + q, positions,
                                     packed.data() + v, block.stride,
                                     block.sums + row * block.stride + v, block.stride,
                                     !(first && q == 0)});
                }
              });
        });
  }
}

template <class T>
void WindowGradient<T>::add_up(std::int64_t row, T* gradient, bool added) const {
  const std::int64_t taps = product_.taps();
  T* const out = gradient + row * product_.depth();
  const std::int64_t group = row / product_.rows;
  for (std::int64_t index = 0; index < blocks_; ++index) {
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const Block block = block_of(chunk, group, index);
      const T* const sums = block.sums + row % product_.rows * block.stride;
      T* const to = out + block.channel * taps;
      const bool adds = added || chunk > 0;
      for (std::int64_t k = 0; k < block.channels * taps; ++k) {
        to[k] = adds ? to[k] + sums[k] : sums[k];
      }
    }
  }
}

template class WindowPieces<float>;
template class WindowPieces<double>;
template class WindowGradient<float>;
template class WindowGradient<double>;

}  // namespace zygos::ops
