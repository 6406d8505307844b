// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/chwn_conv.hpp"

#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>

namespace zygos::ops {

using namespace microkernel;

template <class T>
bool ChwnConv<T>::is_profitable(const ImplicitGemm<T>& product) {
  const bool side_by_side =
      product.x.to_step == 1 && product.y.to_step == 1 && product.to_plane() == product.pixels();
  const std::int64_t bands = ChwnBand<T>::bands(product);
  if (!side_by_side || product.samples == 0 || bands == 0) {
    return false;
  }
  // Either way has the same kernel and as much to store, so that registers of results decide, and
  // what it takes to bring the source into order.
  const double registers =
      registers_of_sample<T>(product.samples) * static_cast<double>(product.pixels());
  const Im2colConv<T> pieces(product);
  const double of_register =
      static_cast<double>(product.rows) * (0.75 * static_cast<double>(product.depth()) + 40.0);
  return registers * of_register + ChwnBand<T>::load_cycles(product, bands) <
         pieces.registers() * of_register + pieces.packing_cycles();
}

template <class T>
ChwnConv<T>::ChwnConv(const ImplicitGemm<T>& product, std::int64_t pieces)
    : product_(product),
      cut_(Im2colConv<T>(product).cut()),
      bands_(std::clamp<std::int64_t>(
          ceil_div(pieces, sample_groups<T>(product.samples) * product.groups),
          ChwnBand<T>::bands(product), product.y.pixels)) {}

template <class T>
std::int64_t ChwnConv<T>::volume() const {
  return product_.rows * product_.depth() * product_.pixels() / bands_ * width<T>;
}

template <class T>
typename ChwnConv<T>::Piece ChwnConv<T>::operator[](std::int64_t index) const {
  return {sample_group<T>(index / bands_ / product_.groups, product_.samples),
          index / bands_ % product_.groups, ChwnBand<T>::of(product_, index % bands_, bands_)};
}

template <class T>
void ChwnConv<T>::load(const Piece& piece, Scratch& scratch) const {
  piece.band.load(piece.samples, piece.group, scratch.grid.data());
  piece.band.find_slots(scratch.slots.data());
  piece.band.find_offsets(scratch.offsets.data());
}

template <class T>
void ChwnConv<T>::compute(const Piece& piece, const Rows& rows, Scratch& scratch) const {
  constexpr Variant variant{.x_along_k = true, .gathers = true};
  const std::int64_t depth = product_.depth();
  const std::int64_t pixels = piece.band.pixels();
  const T* const weights = product_.weights + (piece.group * product_.rows + rows.first) * depth;
  for_each_part(0, pixels, max_vectors, [&](std::int64_t at, std::int64_t count, std::int64_t) {
    microkernel::Args<T> block{.x_stride = depth,
                               .y = scratch.grid.data(),
                               .c = scratch.tile.data() + at * width<T>,
                               .c_stride = pixels * width<T>};
    std::copy_n(scratch.slots.data() + at, count, block.slots);
    cut_.for_each(product_, [&](std::int64_t begin, std::int64_t taps) {
      block.k = taps;
      block.x = weights + begin;
      block.offsets = scratch.offsets.data() + begin;
      block.added = begin > 0;
      multiply_vectors<variant>(count, rows.count, block);
    });
  });
}

template <class T>
void ChwnConv<T>::store(const Piece& piece, const Rows& rows, const Scratch& scratch) const {
  const std::int64_t planes = product_.groups * product_.rows;
  const std::int64_t pixels = piece.band.pixels();
  T* to = product_.to +
          (piece.samples.first * planes + piece.group * product_.rows + rows.first) *
              product_.to_plane() +
          piece.band.first_pixel();
  for (std::int64_t row = 0; row < rows.count; ++row, to += product_.to_plane()) {
    from_chwn(scratch.tile.data() + row * pixels * width<T>, piece.samples.count, pixels, to,
              planes * product_.to_plane());
  }
}

template class ChwnConv<float>;
template class ChwnConv<double>;

}  // namespace zygos::ops
