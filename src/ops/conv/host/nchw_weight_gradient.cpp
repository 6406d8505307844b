// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A weight's gradient is the sum, over output pixels, of the source at its tap times the gradient
// of the result. Where rows of pixels are wide, both are contiguous as they are, and vectors of
// both are multiplied for some rows of the result and some taps at a time; else receptive fields
// are packed (im2col) for the FMA microkernel.
#include "ops/conv/host/nchw_weight_gradient.hpp"

#include "ops/conv/host/correlation_kernel.hpp"
#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::ops {
namespace {

using namespace microkernel;

constexpr Variant packed_variant{.x_along_k = true};

/// Room for rows of the result's gradient that are stored narrower than they are multiplied.
template <class T>
using Widened =
    std::array<Wide<T>, std::is_same_v<T, Wide<T>>
                            ? std::size_t{1}
                            : static_cast<std::size_t>(max_rows* max_slots* width<Wide<T>>)>;

}  // namespace

template <class T>
NchwWeightGradient<T>::NchwWeightGradient(const ImplicitGemm<T>& product)
    : product_(product),
      plan_(product.y, product.x, {panel<Wide<T>>, width<Wide<T>>}),
      direct_(is_direct()) {
  max_channels_ = direct_ ? 1 : channels_together(product, plan_);
  blocks_ = ceil_div(product.channels, max_channels_);
  of_block_ =
      product.rows *
      round_up(ceil_div(product.channels, std::max<std::int64_t>(blocks_, 1)) * product.taps(),
               direct_ ? 1 : width<Wide<T>>);
  std::int64_t samples = product.samples;
  if (direct_) {
    // A chunk has enough vectors for the sums over registers not to matter.
    samples = std::min(samples, samples * product.y.pixels * vectors_of_row() / max_slots);
  }
  chunks_ = gradient_chunks(samples, product.groups * blocks_ * of_block_);
}

template <class T>
NchwWeightGradient<T>::NchwWeightGradient(const ImplicitGemm<T>& product, Wide<T>* partial_sums)
    : NchwWeightGradient(product) {
  partial_sums_ = partial_sums;
}

template <class T>
std::int64_t NchwWeightGradient<T>::partial_elements(const ImplicitGemm<T>& product) {
  const NchwWeightGradient gradient(product);
  return gradient.count() * gradient.of_block_;
}

template <class T>
double NchwWeightGradient<T>::cycles(const ImplicitGemm<T>& product) {
  const NchwWeightGradient gradient(product);
  const auto rows = static_cast<double>(product.rows);
  const auto depth = static_cast<double>(product.depth());
  if (gradient.direct_) {
    // Most vectors cross a line of the cache.
    return 1.2 * rows * depth * static_cast<double>(product.y.pixels * gradient.vectors_of_row());
  }
  const auto pixels = static_cast<double>(product.pixels());
  const double columns = static_cast<double>(gradient.blocks_ * gradient.of_block_) / rows;
  return pixels * (0.6 * rows * columns / width<Wide<T>> +
                   3.0 * static_cast<double>(product.channels * product.y.taps));
}

template <class T>
std::int64_t NchwWeightGradient<T>::vectors_of_row() const {
  return ceil_div(product_.x.pixels, width<Wide<T>>);
}

template <class T>
bool NchwWeightGradient<T>::is_direct() const {
  const WindowAxis& x = product_.x;
  if (x.step != 1 || x.pixels < width<Wide<T>> || product_.taps() == 0 ||
      vectors_of_row() > max_slots ||
      product_.y.receptive_field(1) * x.receptive_field(x.pixels) > max_loaded) {
    return false;
  }
  // Vectors that are multiplied for a row of pixels and a tap, or for the same with their share
  // of what it takes to pack them, about three cycles for a row of taps.
  const auto vectors = static_cast<double>(product_.rows * vectors_of_row());
  const auto pixels = static_cast<double>(x.pixels);
  const auto taps = static_cast<double>(product_.taps());
  const double padded = static_cast<double>(round_up(product_.taps(), width<Wide<T>>)) / taps;
  return vectors <= static_cast<double>(product_.rows) * pixels / width<Wide<T>> * padded +
                        3.0 * pixels / static_cast<double>(x.taps);
}

template <class T>
typename NchwWeightGradient<T>::Block NchwWeightGradient<T>::block_of(std::int64_t chunk,
                                                                      std::int64_t group,
                                                                      std::int64_t block) const {
  const std::int64_t channel = product_.channels * block / blocks_;
  const std::int64_t channels = product_.channels * (block + 1) / blocks_ - channel;
  return {group, channel, channels,
          round_up(channels * product_.taps(), direct_ ? 1 : width<Wide<T>>),
          partial_sums_ + ((chunk * product_.groups + group) * blocks_ + block) * of_block_};
}

template <class T>
void NchwWeightGradient<T>::compute(std::int64_t piece) const {
  const std::int64_t chunk = piece / blocks_ / product_.groups;
  const Block block = block_of(chunk, piece / blocks_ % product_.groups, piece % blocks_);
  const std::int64_t begin = product_.samples * chunk / chunks_;
  const std::int64_t end = product_.samples * (chunk + 1) / chunks_;
  if (begin == end || product_.pixels() == 0) {
    std::fill_n(block.sums, of_block_, Wide<T>(0));
    return;
  }
  if (direct_) {
    Rows left{begin * product_.y.pixels, end * product_.y.pixels};
    for (bool first = true; left.begin < left.end; first = false) {
      const Rows rows = next_rows(left);
      add_rows(rows, block, first);
      left.begin = rows.end;
    }
    return;
  }
  for (std::int64_t sample = begin; sample < end; ++sample) {
    add_sample(sample, block, sample == begin);
  }
}

/// As many of the rows that are left as fit into what is loaded and into a kernel's list.
template <class T>
typename NchwWeightGradient<T>::Rows NchwWeightGradient<T>::next_rows(const Rows& left) const {
  const std::int64_t width = product_.x.receptive_field(product_.x.pixels);
  Rows rows{left.begin, left.begin};
  for (std::int64_t loaded = 0; rows.end < left.end;) {
    const std::int64_t more = rows.end == rows.begin || rows.end % product_.y.pixels == 0
                                  ? product_.y.receptive_field(1)
                                  : product_.y.step;
    loaded += more;
    if (rows.end > rows.begin && (loaded * width > max_loaded ||
                                  (rows.end - rows.begin + 1) * vectors_of_row() > max_slots)) {
      break;
    }
    ++rows.end;
  }
  return rows;
}

template <class T>
void NchwWeightGradient<T>::add_rows(const Rows& rows, const Block& block, bool first) const {
  alignas(line_bytes) LoadedPatch<Wide<T>> seen;
  Slots<Wide<T>> slots;
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const std::int64_t width = x.receptive_field(x.pixels);
  const std::int64_t whole = x.pixels / microkernel::width<Wide<T>>;
  const std::int64_t rest = x.pixels % microkernel::width<Wide<T>>;
  for (std::int64_t i = microkernel::width<Wide<T>> - rest; i < microkernel::width<Wide<T>>; ++i) {
    slots.mask[static_cast<std::size_t>(i)] = -1;
  }
  const std::int64_t of_sample = product_.groups * product_.rows * product_.pixels();
  std::int64_t loaded = 0;
  for (std::int64_t row = rows.begin; row < rows.end;) {
    const std::int64_t sample = row / y.pixels;
    const std::int64_t end = std::min(rows.end, (sample + 1) * y.pixels);
    const std::int64_t first_row = row % y.pixels;
    const T* const image =
        product_.from +
        ((sample * product_.groups + block.group) * product_.channels + block.channel) *
            product_.from_plane();
    const SourceRows source{first_row * y.step + y.first + y.lowest(), y.receptive_field(end - row),
                            x.first + x.lowest(), width};
    load_rows(y, x, image, source, seen.data() + loaded);
    for (std::int64_t at = loaded; row < end; ++row, at += y.step * width) {
      const std::int64_t to =
          is_narrow ? (row - rows.begin) * x.pixels
                    : (sample - rows.begin / y.pixels) * of_sample + row % y.pixels * x.pixels;
      for (std::int64_t v = 0; v < whole; ++v) {
        slots.whole[slots.whole_count++] = {to + v * microkernel::width<Wide<T>>,
                                            at + v * microkernel::width<Wide<T>>};
      }
      if (rest > 0) {
        const std::int64_t last = x.pixels - microkernel::width<Wide<T>>;
        slots.masked[slots.masked_count++] = {to + last, at + last};
      }
    }
    loaded += source.rows * width;
  }
  correlate_all(rows, block, slots, seen.data(), !first);
}

template <class T>
template <class Slots>
void NchwWeightGradient<T>::correlate_all(const Rows& rows, const Block& block, const Slots& slots,
                                          const Wide<T>* seen, bool added) const {
  const WindowAxis& y = product_.y;
  const WindowAxis& x = product_.x;
  const std::int64_t width = x.receptive_field(x.pixels);
  const T* const to = product_.to + (rows.begin / y.pixels * product_.groups + block.group) *
                                        product_.rows * product_.pixels();
  alignas(line_bytes) Widened<T> widened;
  const auto offset = [&](std::int64_t tap) {
    return (tap / x.taps * y.tap_step - y.lowest()) * width + tap % x.taps * x.tap_step -
           x.lowest();
  };
  for_each_part(
      0, product_.rows, sum_rows, [&](std::int64_t row, std::int64_t count, std::int64_t) {
        const Wide<T>* d_to = nullptr;
        std::int64_t stride = product_.pixels();
        if constexpr (is_narrow) {
          stride = (rows.end - rows.begin) * x.pixels;
          widen(rows, block, row, count, widened.data());
          d_to = widened.data();
        } else {
          d_to = to + row * product_.pixels();
        }
        for_each_part(
            0, product_.taps(), sum_taps, [&](std::int64_t tap, std::int64_t taps, std::int64_t) {
              std::array<std::int64_t, static_cast<std::size_t>(sum_taps)> offsets;
              for (std::int64_t k = 0; k < taps; ++k) {
                offsets[static_cast<std::size_t>(k)] = offset(tap + k);
              }
              correlate(
                  count, taps,
                  Correlation<Wide<T>>{slots, d_to, stride, seen, offsets.data(),
                                       block.sums + row * block.stride + tap, block.stride, added});
            });
      });
}

/// Rows [first, first + count) of the result's gradient as floats, their rows of pixels one
/// behind the other.
template <class T>
void NchwWeightGradient<T>::widen(const Rows& rows, const Block& block, std::int64_t first,
                                  std::int64_t count, Wide<T>* out) const {
  const WindowAxis& y = product_.y;
  const std::int64_t width = product_.x.pixels;
  for (std::int64_t i = first; i < first + count; ++i) {
    for (std::int64_t row = rows.begin; row < rows.end; ++row, out += width) {
      const std::int64_t plane =
          (row / y.pixels * product_.groups + block.group) * product_.rows + i;
      convert_row(product_.to + plane * product_.pixels() + row % y.pixels * width, width, out);
    }
  }
}

/// Some pixels of the result's gradient, rows of which lie a plane apart, times what was packed.
template <class T>
void NchwWeightGradient<T>::multiply_packed(const Block& block, const T* d_to, std::int64_t count,
                                            const Wide<T>* packed, bool added) const {
  alignas(line_bytes) Widened<T> widened;
  const std::int64_t pixels = product_.pixels();
  for_each_part(0, product_.rows, max_rows, [&](std::int64_t row, std::int64_t rows, std::int64_t) {
    const Wide<T>* left = nullptr;
    std::int64_t stride = pixels;
    if constexpr (is_narrow) {
      stride = count;
      for (std::int64_t i = 0; i < rows; ++i) {
        convert_row(d_to + (row + i) * pixels, count, widened.data() + i * count);
      }
      left = widened.data();
    } else {
      left = d_to + row * pixels;
    }
    for (std::int64_t v = 0; v < block.stride; v += panel<Wide<T>>) {
      multiply_vectors<packed_variant>(
          std::min<std::int64_t>(max_vectors, (block.stride - v) / width<Wide<T>>), rows,
          microkernel::Args<Wide<T>>{count, left, stride, packed + v, block.stride,
                                     block.sums + row * block.stride + v, block.stride, added});
    }
  });
}

template <class T>
void NchwWeightGradient<T>::add_sample(std::int64_t sample, const Block& block, bool first) const {
  alignas(line_bytes) LoadedPatch<Wide<T>> seen;
  alignas(line_bytes) Packed<Wide<T>> packed;
  const std::int64_t plane = product_.from_plane();
  const T* const from =
      product_.from +
      ((sample * product_.groups + block.group) * product_.channels + block.channel) * plane;
  const std::int64_t pixels = product_.pixels();
  const T* const d_to =
      product_.to + (sample * product_.groups + block.group) * product_.rows * pixels;
  // Rows of packed pixels that fit.
  const std::int64_t limit = packed_taps * panel<Wide<T>> / block.stride;
  for (std::int64_t index = 0; index < plan_.count(1); ++index) {
    const PanelPlan::Range range = plan_.range(index, 1);
    for_each_part(
        range.begin, range.count, limit, [&](std::int64_t q, std::int64_t count, std::int64_t) {
          const PanelPlan::Range part{0, q, count};
          const Panel<Wide<T>> seen_panel(product_.y, product_.x, plan_, part, part, 0);
          seen_panel.load(from, 0, block.channels, seen.data());
          seen_panel.pack_positions(seen.data(), block.channels, block.stride, packed.data());
          multiply_packed(block, d_to + q, count, packed.data(), !(first && q == 0));
        });
  }
}

template <class T>
void NchwWeightGradient<T>::add_up(std::int64_t row, Wide<T>* gradient, bool added) const {
  const std::int64_t taps = product_.taps();
  Wide<T>* const out = gradient + row * product_.depth();
  const std::int64_t group = row / product_.rows;
  for (std::int64_t index = 0; index < blocks_; ++index) {
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const Block block = block_of(chunk, group, index);
      const Wide<T>* const sums = block.sums + row % product_.rows * block.stride;
      Wide<T>* const to = out + block.channel * taps;
      const bool adds = added || chunk > 0;
      for (std::int64_t k = 0; k < block.channels * taps; ++k) {
        to[k] = adds ? to[k] + sums[k] : sums[k];
      }
    }
  }
}

template class NchwWeightGradient<float>;
template class NchwWeightGradient<double>;
template class NchwWeightGradient<bf16>;

}  // namespace zygos::ops
