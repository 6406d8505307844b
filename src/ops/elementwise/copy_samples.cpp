// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/copy_samples.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/bf16.hpp"

#include <algorithm>
#include <array>

namespace zygos::ops {
namespace {

template <class From, class To>
struct Sides {
  const From* from;
  To* to;
  std::int64_t from_stride;
  std::int64_t to_stride;
  SampleLayout layout;
  std::int64_t run;   ///< elements of the last axis
  std::int64_t runs;  ///< of a sample
  SampleStandards standards;

  /// Where run number `index` of a sample begins on both sides.
  KOKKOS_FUNCTION void locate(std::int64_t index, std::int64_t& in, std::int64_t& out) const {
    for (std::size_t axis = layout.rank - 1; axis-- > 0;) {
      const std::int64_t at = index % layout.dimensions[axis];
      index /= layout.dimensions[axis];
      in += at * layout.from[axis];
      out += at * layout.to[axis];
    }
  }
};

/// An element of a column, as `standards` say.
template <class To, class From>
KOKKOS_INLINE_FUNCTION To converted(const SampleStandards& standards, std::int64_t column,
                                    From value) {
  const double shift = standards.shift[column];
  const double scale = standards.scale[column];
  const auto x = static_cast<double>(static_cast<Wide<From>>(value));
  return static_cast<To>(
      static_cast<Wide<To>>(standards.undo ? x * scale + shift : (x - shift) / scale));
}

/// A device has a thread per element.
template <class From, class To>
struct CopySampleElement {
  Sides<From, To> sides;
  IndexDivisor volume;  ///< elements of a sample
  IndexDivisor column;  ///< elements of a column of `standards`
  std::array<IndexDivisor, SampleLayout::max_rank> dimensions;

  explicit CopySampleElement(const Sides<From, To>& both)
      : sides(both), volume(both.run * both.runs), column(both.standards.run) {
    for (std::size_t axis = 0; axis < both.layout.rank; ++axis) {
      dimensions[axis] = IndexDivisor(both.layout.dimensions[axis]);
    }
  }

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const IndexDivisor::Parts element = volume.divide(static_cast<std::int64_t>(i));
    std::int64_t in = element.quotient * sides.from_stride;
    std::int64_t out = element.quotient * sides.to_stride;
    std::int64_t rest = element.rest;
    for (std::size_t axis = sides.layout.rank; axis-- > 0;) {
      const IndexDivisor::Parts at = dimensions[axis].divide(rest);
      rest = at.quotient;
      in += at.rest * sides.layout.from[axis];
      out += at.rest * sides.layout.to[axis];
    }
    sides.to[out] =
        sides.standards.shift == nullptr
            ? static_cast<To>(sides.from[in])
            : converted<To>(sides.standards, column.quotient(sides.standards.first + element.rest),
                            sides.from[in]);
  }
};

/// A host core copies whole runs: no division, and vector loads where elements are neighbours.
template <class From, class To>
struct CopySampleRun {
  Sides<From, To> sides;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const auto row = static_cast<std::int64_t>(i);
    const std::size_t last = sides.layout.rank - 1;
    const std::int64_t from_step = sides.layout.from[last];
    const std::int64_t to_step = sides.layout.to[last];
    std::int64_t in = row / sides.runs * sides.from_stride;
    std::int64_t out = row / sides.runs * sides.to_stride;
    sides.locate(row % sides.runs, in, out);
    const From* const from = sides.from + in;
    To* const to = sides.to + out;
    if (sides.standards.shift != nullptr) {
      const std::int64_t first = row % sides.runs * sides.run;
      for (std::int64_t k = 0; k < sides.run; ++k) {
        const std::int64_t column = (sides.standards.first + first + k) / sides.standards.run;
        to[k * to_step] = converted<To>(sides.standards, column, from[k * from_step]);
      }
      return;
    }
    if (from_step == 1 && to_step == 1) {
      for (std::int64_t k = 0; k < sides.run; ++k) {
        to[k] = static_cast<To>(from[k]);
      }
      return;
    }
    for (std::int64_t k = 0; k < sides.run; ++k) {
      to[k * to_step] = static_cast<To>(from[k * from_step]);
    }
  }
};

}  // namespace

SampleLayout joined(const SampleLayout& layout) {
  SampleLayout out;
  for (std::size_t axis = layout.rank; axis-- > 0;) {
    const std::int64_t extent = layout.dimensions[axis];
    if (extent == 1) {
      continue;
    }
    const std::size_t first = out.rank == 0 ? 0 : out.rank - 1;
    const bool fits = out.rank > 0 &&
                      layout.from[axis] == out.from[first] * out.dimensions[first] &&
                      layout.to[axis] == out.to[first] * out.dimensions[first];
    if (fits) {
      out.dimensions[first] *= extent;
      continue;
    }
    out.dimensions[out.rank] = extent;
    out.from[out.rank] = layout.from[axis];
    out.to[out.rank] = layout.to[axis];
    ++out.rank;
  }
  if (out.rank == 0) {
    return {1, {1}, {1}, {1}};
  }
  const auto count = static_cast<std::ptrdiff_t>(out.rank);
  std::reverse(out.dimensions.begin(), out.dimensions.begin() + count);
  std::reverse(out.from.begin(), out.from.begin() + count);
  std::reverse(out.to.begin(), out.to.begin() + count);
  return out;
}

template <class Exec, class From, class To>
void copy_samples(const Exec& exec, std::int64_t count, const SampleLayout& layout,
                  const From* from, std::int64_t from_stride, To* to, std::int64_t to_stride,
                  const SampleStandards& standards) {
  const SampleLayout axes = joined(layout);
  Sides<From, To> sides{
      from, to, from_stride, to_stride, axes, axes.dimensions[axes.rank - 1], 1, standards};
  for (std::size_t axis = 0; axis + 1 < axes.rank; ++axis) {
    sides.runs *= axes.dimensions[axis];
  }
  const auto rows = static_cast<std::size_t>(count * sides.runs);
  const auto run = static_cast<std::size_t>(sides.run);
  if (rows == 0 || run == 0) {
    return;
  }
  if constexpr (HostSpace<Exec>) {
    for_each_element("zygos::ops::copy_samples", exec, rows,
                     std::max<std::size_t>(chunk::light / run, 1), CopySampleRun<From, To>{sides});
  } else {
    for_each_element("zygos::ops::copy_samples", exec, rows * run, chunk::light,
                     CopySampleElement<From, To>(sides));
  }
}

#define ZYGOS_INSTANTIATE_PAIR(SPACE, FROM, TO)                                                \
  template void copy_samples<SPACE, FROM, TO>(const SPACE&, std::int64_t, const SampleLayout&, \
                                              const FROM*, std::int64_t, TO*, std::int64_t,    \
                                              const SampleStandards&);
#define ZYGOS_INSTANTIATE(SPACE)                \
  ZYGOS_INSTANTIATE_PAIR(SPACE, float, float)   \
  ZYGOS_INSTANTIATE_PAIR(SPACE, float, double)  \
  ZYGOS_INSTANTIATE_PAIR(SPACE, float, bf16)    \
  ZYGOS_INSTANTIATE_PAIR(SPACE, double, float)  \
  ZYGOS_INSTANTIATE_PAIR(SPACE, double, double) \
  ZYGOS_INSTANTIATE_PAIR(SPACE, double, bf16)   \
  ZYGOS_INSTANTIATE_PAIR(SPACE, bf16, float)    \
  ZYGOS_INSTANTIATE_PAIR(SPACE, bf16, double)   \
  ZYGOS_INSTANTIATE_PAIR(SPACE, bf16, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
