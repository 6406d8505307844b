// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes rows of what is written, a device has a thread for each of its elements.
#include "ops/pool/upsample.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

/// Rows of all planes lie behind each other: output row r is a copy of input row r / factor_y.
template <class T>
struct Nearest {
  Upsampling shape;
  const T* x;
  T* y;
  IndexDivisor by_factor_y{shape.factor_y};
  IndexDivisor by_factor_x{shape.factor_x};

  std::int64_t rows() const { return shape.planes * shape.height * shape.factor_y; }
  std::int64_t columns() const { return shape.width * shape.factor_x; }

  KOKKOS_INLINE_FUNCTION void element(std::int64_t row, std::int64_t column) const {
    y[row * shape.width * shape.factor_x + column] =
        x[by_factor_y.quotient(row) * shape.width + by_factor_x.quotient(column)];
  }
  void row(std::int64_t row) const {
    const T* const in = x + row / shape.factor_y * shape.width;
    T* const out = y + row * columns();
    if (shape.factor_x == 2) {
      return spread<2>(in, out);
    }
    spread<0>(in, out);
  }

 private:
  template <std::int64_t known>
  void spread(const T* in, T* out) const {
    const std::int64_t factor = known > 0 ? known : shape.factor_x;
    for (std::int64_t column = 0; column < shape.width; ++column) {
      for (std::int64_t i = 0; i < factor; ++i) {
        out[column * factor + i] = in[column];
      }
    }
  }
};

template <class T>
struct NearestGradient {
  Upsampling shape;
  const T* d_y;
  T* d_x;

  std::int64_t rows() const { return shape.planes * shape.height; }
  std::int64_t columns() const { return shape.width; }

  KOKKOS_INLINE_FUNCTION void element(std::int64_t row, std::int64_t column) const {
    const std::int64_t wide = shape.width * shape.factor_x;
    Wide<T> sum(0);
    for (std::int64_t i = 0; i < shape.factor_y; ++i) {
      const T* const in = d_y + (row * shape.factor_y + i) * wide + column * shape.factor_x;
      for (std::int64_t j = 0; j < shape.factor_x; ++j) {
        sum += in[j];
      }
    }
    d_x[row * shape.width + column] = static_cast<T>(sum);
  }
  void row(std::int64_t row) const {
    if (shape.factor_x == 2 && shape.factor_y == 2) {
      return sum_of_squares(d_y + row * 4 * shape.width, d_x + row * shape.width);
    }
    for (std::int64_t column = 0; column < shape.width; ++column) {
      element(row, column);
    }
  }

 private:
  /// The usual factors, in the same order; fixed ones vectorise.
  void sum_of_squares(const T* upper, T* out) const {
    const T* const lower = upper + 2 * shape.width;
    for (std::int64_t column = 0; column < shape.width; ++column) {
      out[column] = static_cast<T>(upper[2 * column] + upper[2 * column + 1] + lower[2 * column] +
                                   lower[2 * column + 1]);
    }
  }
};

/// An output coordinate between the centres of two inputs: (o + 1/2) / factor - 1/2.
template <class T>
struct Blend {
  std::int64_t lower;
  std::int64_t upper;
  T share;  ///< of the upper one

  /// `by_factor` divides by `factor`.
  KOKKOS_INLINE_FUNCTION Blend(std::int64_t output, const IndexDivisor& by_factor,
                               std::int64_t factor, std::int64_t inputs) {
    const IndexDivisor::Parts place = by_factor.divide(output);
    const std::int64_t halves = 2 * place.rest + 1 - factor;
    const std::int64_t first = place.quotient - (halves < 0 ? 1 : 0);
    lower = first < 0 ? 0 : first;
    upper = first + 1 < inputs ? first + 1 : inputs - 1;
    share = static_cast<T>(halves < 0 ? halves + 2 * factor : halves) / static_cast<T>(2 * factor);
  }
  /// What an output takes of `input`.
  KOKKOS_INLINE_FUNCTION T weight(std::int64_t input) const {
    return (input == lower ? T(1) - share : T(0)) + (input == upper ? share : T(0));
  }
};

template <class T>
struct Bilinear {
  Upsampling shape;
  const T* x;
  T* y;
  IndexDivisor by_factor_y{shape.factor_y};
  IndexDivisor by_factor_x{shape.factor_x};
  IndexDivisor by_rows{shape.height * shape.factor_y};

  std::int64_t rows() const { return shape.planes * shape.height * shape.factor_y; }
  std::int64_t columns() const { return shape.width * shape.factor_x; }

  KOKKOS_INLINE_FUNCTION void element(std::int64_t row, std::int64_t column) const {
    const IndexDivisor::Parts place = by_rows.divide(row);
    const Blend<Wide<T>> down(place.rest, by_factor_y, shape.factor_y, shape.height);
    const Blend<Wide<T>> along(column, by_factor_x, shape.factor_x, shape.width);
    const T* const plane = x + place.quotient * shape.height * shape.width;
    const T* const upper = plane + down.lower * shape.width;
    const T* const lower = plane + down.upper * shape.width;
    const Wide<T> above =
        upper[along.lower] + along.share * (upper[along.upper] - upper[along.lower]);
    const Wide<T> below =
        lower[along.lower] + along.share * (lower[along.upper] - lower[along.lower]);
    y[row * shape.width * shape.factor_x + column] =
        static_cast<T>(above + down.share * (below - above));
  }
  void row(std::int64_t row) const {
    for (std::int64_t column = 0; column < columns(); ++column) {
      element(row, column);
    }
  }
};

template <class T>
struct BilinearGradient {
  Upsampling shape;
  const T* d_y;
  T* d_x;
  IndexDivisor by_factor_y{shape.factor_y};
  IndexDivisor by_factor_x{shape.factor_x};
  IndexDivisor by_height{shape.height};

  std::int64_t rows() const { return shape.planes * shape.height; }
  std::int64_t columns() const { return shape.width; }

  KOKKOS_INLINE_FUNCTION void element(std::int64_t row, std::int64_t column) const {
    const std::int64_t high = shape.height * shape.factor_y;
    const std::int64_t wide = shape.width * shape.factor_x;
    const IndexDivisor::Parts place = by_height.divide(row);
    const std::int64_t input = place.rest;
    const T* const plane = d_y + place.quotient * high * wide;
    const Span down(input, shape.factor_y, high);
    const Span along(column, shape.factor_x, wide);
    Wide<T> sum(0);
    for (std::int64_t i = down.begin; i < down.end; ++i) {
      const Wide<T> share =
          Blend<Wide<T>>(i, by_factor_y, shape.factor_y, shape.height).weight(input);
      for (std::int64_t j = along.begin; j < along.end; ++j) {
        sum += share * Blend<Wide<T>>(j, by_factor_x, shape.factor_x, shape.width).weight(column) *
               plane[i * wide + j];
      }
    }
    d_x[row * shape.width + column] = static_cast<T>(sum);
  }
  void row(std::int64_t row) const {
    for (std::int64_t column = 0; column < columns(); ++column) {
      element(row, column);
    }
  }

 private:
  /// Outputs less than an input's distance away from an input.
  struct Span {
    std::int64_t begin;
    std::int64_t end;
    KOKKOS_INLINE_FUNCTION Span(std::int64_t input, std::int64_t factor, std::int64_t outputs) {
      begin = input * factor - factor / 2;
      begin = begin < 0 ? 0 : begin;
      end = input * factor + 3 * factor / 2;
      end = end > outputs ? outputs : end;
    }
  };
};

template <HostSpace Exec, class Body>
void for_each_written(const char* label, const Exec& exec, const Body& body) {
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(body.columns(), 1));
  for_each_element(label, exec, static_cast<std::size_t>(body.rows()),
                   std::max<std::size_t>(chunk::medium / columns, 1),
                   [=](const std::size_t row) { body.row(static_cast<std::int64_t>(row)); });
}

template <DeviceSpace Exec, class Body>
void for_each_written(const char* label, const Exec& exec, const Body& body) {
  const std::int64_t columns = body.columns();
  const IndexDivisor by_columns(columns);
  for_each_element(
      label, exec, static_cast<std::size_t>(body.rows() * columns), chunk::light,
      KOKKOS_LAMBDA(const std::size_t index) {
        const auto i = static_cast<std::int64_t>(index);
        const IndexDivisor::Parts place = by_columns.divide(i);
        body.element(place.quotient, place.rest);
      });
}

void require_extents(const Upsampling& shape, std::size_t smaller, std::size_t larger) {
  const std::int64_t inputs = shape.planes * shape.height * shape.width;
  ZYGOS_REQUIRE(static_cast<std::int64_t>(smaller) == inputs &&
                    static_cast<std::int64_t>(larger) == inputs * shape.factor_y * shape.factor_x,
                "ops::upsample: dimensions do not fit");
}

}  // namespace

template <class Exec, class T>
void upsample(const Exec& exec, const Upsampling& shape, Between between,
              VectorView<Exec, const T> x, VectorView<Exec, T> y) {
  require_extents(shape, x.size(), y.size());
  if (between == Between::nearest) {
    return for_each_written("zygos::ops::upsample", exec, Nearest<T>{shape, x.data(), y.data()});
  }
  for_each_written("zygos::ops::upsample", exec, Bilinear<T>{shape, x.data(), y.data()});
}

template <class Exec, class T>
void upsample_backward(const Exec& exec, const Upsampling& shape, Between between,
                       VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x) {
  require_extents(shape, d_x.size(), d_y.size());
  if (between == Between::nearest) {
    return for_each_written("zygos::ops::upsample_backward", exec,
                            NearestGradient<T>{shape, d_y.data(), d_x.data()});
  }
  for_each_written("zygos::ops::upsample_backward", exec,
                   BilinearGradient<T>{shape, d_y.data(), d_x.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                              \
  template void upsample<SPACE, T>(const SPACE&, const Upsampling&, Between,          \
                                   VectorView<SPACE, const T>, VectorView<SPACE, T>); \
  template void upsample_backward<SPACE, T>(const SPACE&, const Upsampling&, Between, \
                                            VectorView<SPACE, const T>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
