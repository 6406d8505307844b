// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/host/im2col_panel.hpp"

#include "ops/gemm/microkernel/fma.hpp"

#include <algorithm>
#include <cstring>

namespace zygos::ops {

using namespace microkernel;

PanelPlan::PanelPlan(const WindowAxis& y, const WindowAxis& x, const PanelExtents& dimensions,
                     std::int64_t rows, std::int64_t channels)
    : dimensions_(dimensions), rows_(y.pixels), columns_(x.pixels), layout_(cheapest(y, x, rows)) {
  const std::int64_t enough = direct() ? 4 * dimensions.panel : dimensions.panel;
  in_rows_ = columns_ >= enough;
  if (layout_ == Layout::gaps) {
    columns_ = x.receptive_field(columns_);
  } else if (layout_ == Layout::slots && !in_rows_) {
    columns_ = round_up(columns_, dimensions.vector);
  }
  pixels_ = rows_ == 0 || x.pixels == 0 ? 0 : (rows_ - 1) * columns_ + x.pixels;
  // Fewer pixels where the receptive field is so large that what 64 of them see is too much.
  while ((region_ = region_of(y, x, 1)) > max_loaded && dimensions_.panel > 1) {
    dimensions_.panel /= 2;
  }
  if (direct() && !in_rows_ && pixels_ > 0) {
    together_ = panels_of_sample();
    while (together_ > 1 && region_of(y, x, together_) * channels > max_loaded) {
      --together_;
    }
  }
}

PanelPlan::Layout PanelPlan::cheapest(const WindowAxis& y, const WindowAxis& x,
                                      std::int64_t rows) const {
  if (rows == 0 || x.step != 1) {
    return Layout::packed;
  }
  // Of a tap of a row: packing takes about four cycles for each vector, computing what is left out
  // one for each vector and row of the result.
  const std::int64_t rounded = round_up(columns_, dimensions_.vector);
  const std::int64_t seen = x.receptive_field(columns_);
  const std::int64_t packing = 4 * rounded;
  const std::int64_t in_slots = rows * (rounded - columns_);
  const bool can_have_gaps = y.step == 1 && seen + x.span() < loaded_padding;
  const std::int64_t in_gaps = can_have_gaps ? rows * (seen - columns_) : packing + in_slots;
  if (std::min(in_slots, in_gaps) > packing) {
    return Layout::packed;
  }
  return in_slots <= in_gaps ? Layout::slots : Layout::gaps;
}

/// Elements of a channel that so many panels see.
std::int64_t PanelPlan::region_of(const WindowAxis& y, const WindowAxis& x,
                                  std::int64_t panels) const {
  const std::int64_t pixels = panels * dimensions_.panel;
  if (in_rows_) {
    return (y.span() + 1) * x.receptive_field(std::min(columns_, pixels));
  }
  const std::int64_t width = std::max<std::int64_t>(columns_, 1);
  const std::int64_t loaded = x.receptive_field(std::max<std::int64_t>(x.pixels, 1));
  const std::int64_t over = std::min(pixels, pixels / width + 2);
  // Rows of one sample share what they see, those of two do not.
  return std::max<std::int64_t>(
      loaded * (direct() ? y.receptive_field(std::min(over, std::max<std::int64_t>(rows_, 1)))
                         : over * std::max(y.span() + 1, y.step)),
      1);
}

double PanelPlan::registers() const {
  if (in_rows_) {
    return static_cast<double>(rows_ * ceil_div(columns_, dimensions_.vector));
  }
  return direct() ? static_cast<double>(ceil_div(pixels_, dimensions_.vector))
                  : static_cast<double>(pixels_) / static_cast<double>(dimensions_.vector);
}

std::int64_t PanelPlan::count(std::int64_t samples) const {
  if (pixels_ <= 0) {
    return 0;
  }
  if (in_rows_) {
    return samples * rows_ * ceil_div(columns_, dimensions_.panel);
  }
  return direct() ? samples * panels_of_sample() : ceil_div(samples * pixels_, dimensions_.panel);
}

PanelPlan::Range PanelPlan::range(std::int64_t index, std::int64_t samples) const {
  if (in_rows_) {
    const std::int64_t per_row = ceil_div(columns_, dimensions_.panel);
    const std::int64_t row = index / per_row;
    const std::int64_t part = index % per_row;
    const std::int64_t begin = columns_ * part / per_row;
    return {row / rows_, row % rows_ * columns_ + begin, columns_ * (part + 1) / per_row - begin};
  }
  if (direct()) {
    const std::int64_t begin = index % panels_of_sample() * dimensions_.panel;
    return {index / panels_of_sample(), begin, std::min(dimensions_.panel, pixels_ - begin)};
  }
  const std::int64_t begin = index * dimensions_.panel;
  return {begin / pixels_, begin % pixels_, std::min(dimensions_.panel, samples * pixels_ - begin)};
}

std::int64_t PanelPlan::bands(std::int64_t samples, std::int64_t panels) const {
  return panels == 1 ? count(samples) : samples * ceil_div(panels_of_sample(), panels);
}

PanelPlan::Range PanelPlan::band(std::int64_t index, std::int64_t samples,
                                 std::int64_t panels) const {
  if (panels == 1) {
    return range(index, samples);
  }
  const std::int64_t of_sample = ceil_div(panels_of_sample(), panels);
  const std::int64_t begin = index % of_sample * panels * dimensions_.panel;
  return {index / of_sample, begin, std::min(panels * dimensions_.panel, pixels_ - begin)};
}

template <class T>
Panel<T>::Panel(const WindowAxis& y, const WindowAxis& x, const PanelPlan& plan,
                PanelPlan::Range band, PanelPlan::Range range, std::int64_t to_sample)
    : y_(y), x_(x), pixels_(range.count) {
  add_segments(plan, band, range, to_sample);
  if (plan.direct()) {
    add_slots(plan, band, range);
  } else {
    add_moves();
  }
}

template <class T>
void Panel<T>::add_segments(const PanelPlan& plan, PanelPlan::Range band, PanelPlan::Range range,
                            std::int64_t to_sample) {
  const std::int64_t first_column = plan.in_rows() ? range.begin % plan.columns() : 0;
  column_ = first_column * x_.step + x_.first + x_.lowest();
  width_ = x_.receptive_field(plan.in_rows() ? range.count : x_.pixels);
  std::int64_t sample = range.sample;
  std::int64_t row = range.begin / plan.columns();
  std::int64_t column = range.begin % plan.columns();
  std::int64_t first_row = row;  // of the part
  if (plan.direct()) {
    first_row = band.begin / plan.columns();
    add_part(sample, first_row, (band.begin + band.count - 1) / plan.columns() - first_row + 1);
  }
  for (std::int64_t at = 0; at < range.count;) {
    if (parts_count_ == 0 || parts_[parts_count_ - 1].sample != sample) {
      first_row = row;
      add_part(sample, row, 1);
    }
    Part& part = parts_[parts_count_ - 1];
    grow(part, y_.receptive_field(row - first_row + 1));
    const std::int64_t count = std::min(x_.pixels - column, range.count - at);
    if (count > 0) {  // not between two rows
      segments_[segments_count_] = {
          part.at + (row - first_row) * y_.step * width_ + (column - first_column) * x_.step, at,
          count,
          sample * to_sample + (row * y_.to_step + y_.to_first) * x_.to_extent +
              column * x_.to_step + x_.to_first};
      ++segments_count_;
    }
    at += plan.columns() - column;
    column = 0;
    if (++row == y_.pixels) {
      row = 0;
      ++sample;
    }
  }
}

/// What so many rows of pixels see, from `first_row` on.
template <class T>
void Panel<T>::add_part(std::int64_t sample, std::int64_t first_row, std::int64_t rows) {
  parts_[parts_count_] = {sample, first_row * y_.step + y_.first + y_.lowest(), 0, channel_};
  grow(parts_[parts_count_], y_.receptive_field(rows));
  ++parts_count_;
}

/// The last part of what a channel has loaded gets so many rows, unless it has more.
template <class T>
void Panel<T>::grow(Part& part, std::int64_t rows) {
  const std::int64_t more = std::max<std::int64_t>(rows - part.rows, 0);
  channel_ += more * width_;
  part.rows += more;
}

template <class T>
void Panel<T>::add_slots(const PanelPlan& plan, PanelPlan::Range band, PanelPlan::Range range) {
  const std::int64_t first = band.begin / plan.columns();
  for (std::size_t v = 0; v < slots_.size(); ++v) {
    const std::int64_t at = range.begin + static_cast<std::int64_t>(v) * width<T>;
    const std::int64_t row = at / plan.columns() - first;
    if (plan.in_rows()) {
      slots_[v] = static_cast<std::int64_t>(v) * width<T>;
    } else if (plan.has_gaps()) {
      slots_[v] = at - first * plan.columns();
    } else {
      slots_[v] = row * y_.step * width_ + at % plan.columns();
    }
  }
}

template <class From, class T>
void load_rows(const WindowAxis& y, const WindowAxis& x, const From* image,
               const SourceRows& source, T* out) {
  const std::int64_t begin = std::clamp<std::int64_t>(-source.column, 0, source.width);
  const std::int64_t end = std::clamp(x.extent - source.column, begin, source.width);
  for (std::int64_t row = source.row; row < source.row + source.rows; ++row, out += source.width) {
    if (row < 0 || row >= y.extent) {
      std::fill(out, out + source.width, T(0));
      continue;
    }
    const From* const from = image + row * x.extent + source.column;
    std::fill(out, out + begin, T(0));
    convert_row(from + begin, end - begin, out + begin);
    std::fill(out + end, out + source.width, T(0));
  }
}

template <class T>
template <class From>
void Panel<T>::load(const From* from, std::int64_t sample, std::int64_t channels, T* seen) const {
  const std::int64_t plane = y_.extent * x_.extent;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::size_t i = 0; i < parts_count_; ++i) {
      const Part& part = parts_[i];
      load_rows(y_, x_, from + part.sample * sample + channel * plane,
                {part.row, part.rows, column_, width_}, seen + channel * channel_ + part.at);
    }
  }
  // What vectors read beyond.
  std::fill_n(seen + channels * channel_, loaded_padding, T(0));
}

namespace {

/// Copies so many elements, in registers.
template <int numbers, class T>
[[gnu::always_inline]] inline void copy(const T* from, T* to) {
  std::memcpy(to, from, numbers * sizeof(T));
}

}  // namespace

/// A vector may be written beyond its segment: what follows is written after it.
template <class T>
void Panel<T>::add_moves() {
  for (std::size_t s = 0; s < segments_count_; ++s) {
    for (std::int64_t i = 0; i < segments_[s].count; i += width<T>) {
      moves_[moves_count_] = {static_cast<std::int32_t>(segments_[s].from + i),
                              static_cast<std::int32_t>(segments_[s].at + i)};
      ++moves_count_;
    }
  }
}

template <class T>
void Panel<T>::copy_moves(const T* from, T* out) const {
  if (x_.step == 1) {
    for (std::size_t i = 0; i < moves_count_; ++i) {
      copy<width<T>>(from + moves_[i].from, out + moves_[i].at);
    }
    return;
  }
  for (std::size_t s = 0; s < segments_count_; ++s) {
    const Segment& segment = segments_[s];
    for (std::int64_t i = 0; i < segment.count; ++i) {
      out[segment.at + i] = from[segment.from + i * x_.step];
    }
  }
}

template <class T>
template <class F>
void Panel<T>::for_each_tap(std::int64_t first, std::int64_t count, const F& f) const {
  if (count == 0) {
    return;
  }
  const std::int64_t taps = y_.taps * x_.taps;
  std::int64_t j = first % x_.taps;
  std::int64_t i = first / x_.taps % y_.taps;
  std::int64_t channel = first / taps * channel_;
  for (std::int64_t k = 0; k < count; ++k) {
    f(channel + tap_offset(i, j));
    if (++j == x_.taps) {
      j = 0;
      if (++i == y_.taps) {
        i = 0;
        channel += channel_;
      }
    }
  }
}

template <class T>
void Panel<T>::pack_taps(const T* seen, std::int64_t first, std::int64_t count, std::int64_t stride,
                         T* out) const {
  for_each_tap(first, count, [&](std::int64_t offset) {
    microkernel::store(out + stride - width<T>, typename Simd<T>::Vector{});
    copy_moves(seen + offset, out);
    out += stride;
  });
}

template <class T>
void Panel<T>::find_taps(std::int64_t first, std::int64_t count, std::int64_t* offsets) const {
  for_each_tap(first, count, [&](std::int64_t offset) { *offsets++ = offset; });
}

/// Copies `numbers` at a time where a row has fewer taps: the next row's come after it.
template <class T>
template <int numbers>
void Panel<T>::pack_rows_of_taps(const T* seen, std::int64_t channels, std::int64_t stride,
                                 T* out) const {
  const std::int64_t row_step = y_.tap_step * width_;
  for (std::size_t s = 0; s < segments_count_; ++s) {
    const T* corner = seen + segments_[s].from + tap_offset(0, 0);
    for (std::int64_t q = 0; q < segments_[s].count; ++q, corner += x_.step, out += stride) {
      microkernel::store(out + stride - width<T>, typename Simd<T>::Vector{});
      T* to = out;
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const T* from = corner + channel * channel_;
        for (std::int64_t i = 0; i < y_.taps; ++i, from += row_step, to += x_.taps) {
          if constexpr (numbers > 0) {
            copy<numbers>(from, to);
          } else {
            for (std::int64_t j = 0; j < x_.taps; ++j) {
              to[j] = from[j * x_.tap_step];
            }
          }
        }
      }
    }
  }
}

template <class T>
void Panel<T>::pack_positions(const T* seen, std::int64_t channels, std::int64_t stride,
                              T* out) const {
  constexpr int line_numbers = line<T>;
  if (x_.tap_step != 1 || x_.taps > line_numbers) {
    pack_rows_of_taps<0>(seen, channels, stride, out);
  } else if (x_.taps <= line_numbers / 4) {
    pack_rows_of_taps<line_numbers / 4>(seen, channels, stride, out);
  } else if (x_.taps <= line_numbers / 2) {
    pack_rows_of_taps<line_numbers / 2>(seen, channels, stride, out);
  } else {
    pack_rows_of_taps<line_numbers>(seen, channels, stride, out);
  }
}

template <class T>
template <class To>
void Panel<T>::scatter(const T* row, To* to) const {
  for (std::size_t s = 0; s < segments_count_; ++s) {
    const Segment& segment = segments_[s];
    if (x_.to_step == 1) {
      convert_row(row + segment.at, segment.count, to + segment.to);
      continue;
    }
    for (std::int64_t i = 0; i < segment.count; ++i) {
      to[segment.to + i * x_.to_step] = static_cast<To>(row[segment.at + i]);
    }
  }
}

#define ZYGOS_INSTANTIATE(STORED, T)                                                         \
  template void load_rows<STORED, T>(const WindowAxis&, const WindowAxis&, const STORED*,    \
                                     const SourceRows&, T*);                                 \
  template void Panel<T>::load<STORED>(const STORED*, std::int64_t, std::int64_t, T*) const; \
  template void Panel<T>::scatter<STORED>(const T*, STORED*) const;
template class Panel<float>;
template class Panel<double>;
ZYGOS_INSTANTIATE(float, float)
ZYGOS_INSTANTIATE(double, double)
ZYGOS_INSTANTIATE(bf16, float)

}  // namespace zygos::ops
