// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What is copied for the kernels lies on the stack, about 256 KiB at a time.
#include "ops/conv/host/im2col_conv.hpp"

#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

using namespace microkernel;

constexpr Variant plain_variant{.x_along_k = true};
constexpr Variant gather_variant{.x_along_k = true, .gathers = true};
template <Variant variant>
struct VariantConstant {
  static constexpr Variant value = variant;
};

template <class T>
constexpr PanelExtents dimensions{panel<Wide<T>>, width<Wide<T>>};

}  // namespace

template <class T>
Im2colConv<T>::Im2colConv(const ImplicitGemm<T>& product, std::int64_t pieces)
    : product_(product),
      plan_(product.y, product.x, dimensions<T>, std::min(product.rows, max_rows_of_piece),
            product.channels),
      cut_(cut_of_sums()),
      together_(
          std::clamp<std::int64_t>(plan_.count(product.samples) / pieces, 1, plan_.together())),
      bands_(plan_.bands(product.samples, together_)),
      row_blocks_(ceil_div(product.rows, max_rows_of_piece)) {}

/// Follows from the receptive field alone, for the order of sums follows from it.
template <class T>
DepthCut Im2colConv<T>::cut_of_sums() const {
  const std::int64_t all = std::max<std::int64_t>(product_.channels, 1);
  if (!plan_.direct()) {
    return {channels_together(product_, plan_), packed_taps};
  }
  return {plan_.channels() >= all ? all : channels_together(product_, plan_), max_taps};
}

/// Each register is copied, and what was packed exceeds the L1 cache when rows are many.
template <class T>
double Im2colConv<T>::packing_cycles() const {
  const double packed = plan_.direct() ? 0.0 : registers() * static_cast<double>(product_.depth());
  return packed * (4.0 + 0.1 * static_cast<double>(product_.rows));
}

template <class T>
std::int64_t Im2colConv<T>::volume() const {
  return std::min(product_.rows, max_rows_of_piece) * panel<Wide<T>> * together_ * product_.depth();
}

template <class T>
typename Im2colConv<T>::Piece Im2colConv<T>::operator[](std::int64_t index) const {
  const std::int64_t of_group = bands_ * row_blocks_;
  const std::int64_t block = index % of_group / bands_;
  const PanelPlan::Range band = plan_.band(index % bands_, product_.samples, together_);
  const std::int64_t first = product_.rows * block / row_blocks_;
  return {band, index / of_group, first, product_.rows * (block + 1) / row_blocks_ - first};
}

template <class T>
Panel<Wide<T>> Im2colConv<T>::panel_of(const Piece& piece, std::int64_t index) const {
  const std::int64_t begin = index * plan_.panel_pixels();
  return {product_.y,
          product_.x,
          plan_,
          piece.band,
          {piece.band.sample, piece.band.begin + begin,
           std::min(plan_.panel_pixels(), piece.band.count - begin)},
          product_.groups * product_.rows * product_.to_plane()};
}

template <class T>
void Im2colConv<T>::compute(const Piece& piece, std::int64_t index, const Panel<Wide<T>>& panel,
                            Scratch& scratch) const {
  const bool shared = plan_.direct() && cut_.channels >= product_.channels;
  for_each_depth(product_.channels, cut_.channels, [&](std::int64_t begin, std::int64_t count) {
    if (index == 0 || !shared) {
      load(piece, panel, {begin, count}, scratch);
    }
    multiply(piece, panel, {begin, count}, scratch);
  });
}

template <class T>
void Im2colConv<T>::load(const Piece& piece, const Panel<Wide<T>>& panel, const Channels& channels,
                         Scratch& scratch) const {
  const std::int64_t plane = product_.from_plane();
  panel.load(product_.from + (piece.group * product_.channels + channels.begin) * plane,
             product_.groups * product_.channels * plane, channels.count, scratch.seen.data());
}

template <class T>
void Im2colConv<T>::multiply(const Piece& piece, const Panel<Wide<T>>& panel,
                             const Channels& channels, Scratch& scratch) const {
  return plan_.direct() ? multiply_taps(piece, panel, channels, scratch)
                        : multiply_packed(piece, panel, channels, scratch);
}

/// Rows of a piece times what a block says of y.
template <class T>
template <class VariantConstant>
void Im2colConv<T>::multiply_rows(VariantConstant variant, const Piece& piece,
                                  const Panel<Wide<T>>& panel, std::int64_t first_tap,
                                  const microkernel::Args<Wide<T>>& taps, ResultPanel& tile) const {
  const std::int64_t depth = product_.depth();
  const Wide<T>* const weights =
      product_.weights + (piece.group * product_.rows + piece.first_row) * depth + first_tap;
  for_each_part(0, piece.rows, max_rows, [&](std::int64_t row, std::int64_t rows, std::int64_t) {
    microkernel::Args<Wide<T>> block = taps;
    block.x = weights + row * depth;
    block.x_stride = depth;
    block.c = tile.data() + row * microkernel::panel<Wide<T>>;
    block.c_stride = microkernel::panel<Wide<T>>;
    block.added = first_tap > 0;
    multiply_vectors<decltype(variant)::value>(ceil_div(panel.pixels(), width<Wide<T>>), rows,
                                               block);
  });
}

template <class T>
void Im2colConv<T>::multiply_taps(const Piece& piece, const Panel<Wide<T>>& panel,
                                  const Channels& channels, Scratch& scratch) const {
  const std::int64_t first = channels.begin * product_.taps();
  for_each_depth(channels.count * product_.taps(), cut_.taps,
                 [&](std::int64_t begin, std::int64_t count) {
                   if (scratch.first_tap != first + begin) {
                     panel.find_taps(begin, count, scratch.offsets.data());
                     scratch.first_tap = first + begin;
                   }
                   microkernel::Args<Wide<T>> block{
                       .k = count, .y = scratch.seen.data(), .offsets = scratch.offsets.data()};
                   for (std::size_t v = 0; v < max_vectors; ++v) {
                     block.slots[v] = panel.slot(v);
                   }
                   multiply_rows(VariantConstant<gather_variant>{}, piece, panel, first + begin,
                                 block, scratch.tile);
                 });
}

template <class T>
void Im2colConv<T>::multiply_packed(const Piece& piece, const Panel<Wide<T>>& panel,
                                    const Channels& channels, Scratch& scratch) const {
  alignas(line_bytes) Packed<Wide<T>> packed;
  const std::int64_t stride = round_up(panel.pixels(), width<Wide<T>>);
  for_each_depth(
      channels.count * product_.taps(), cut_.taps, [&](std::int64_t begin, std::int64_t count) {
        panel.pack_taps(scratch.seen.data(), begin, count, stride, packed.data());
        multiply_rows(VariantConstant<plain_variant>{}, piece, panel,
                      channels.begin * product_.taps() + begin,
                      {.k = count, .y = packed.data(), .y_stride = stride}, scratch.tile);
      });
}

template <class T>
void Im2colConv<T>::store(const Piece& piece, const Panel<Wide<T>>& panel,
                          const ResultPanel& tile) const {
  T* const to = product_.to + (piece.group * product_.rows + piece.first_row) * product_.to_plane();
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    panel.scatter(tile.data() + row * microkernel::panel<Wide<T>>, to + row * product_.to_plane());
  }
}

template class Im2colConv<float>;
template class Im2colConv<double>;
template class Im2colConv<bf16>;

}  // namespace zygos::ops
