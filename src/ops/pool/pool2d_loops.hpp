// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes whole planes: forwards window by window, backwards by handing each window's
// gradient to its inputs. A device has a thread per output, and in the gradient per input, which
// collects from the windows over it in the same order.
#pragma once

#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"
#include "ops/pool/pool2d.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <type_traits>

namespace zygos::ops {

/// A host's thread takes planes of windows, a device's has one window.
template <HostSpace Exec, class Window>
void for_each_window(const char* label, const Exec& exec, const Window& window) {
  const Pool2d& pool = window.pool;
  const std::int64_t outputs = pool.y.output * pool.x.output;
  const std::int64_t inputs = pool.y.input * pool.x.input;
  const auto volume =
      static_cast<std::size_t>(std::max<std::int64_t>(outputs * pool.y.kernel * pool.x.kernel, 1));
  for_each_element(label, exec, static_cast<std::size_t>(outputs == 0 ? 0 : pool.planes),
                   std::max<std::size_t>(chunk::light / volume, 1), [=](const std::size_t plane) {
                     const auto p = static_cast<std::int64_t>(plane);
                     for (std::int64_t row = 0; row < window.pool.y.output; ++row) {
                       window.row(window.x + p * inputs, row,
                                  p * outputs + row * window.pool.x.output);
                     }
                   });
}

template <DeviceSpace Exec, class Window>
void for_each_window(const char* label, const Exec& exec, const Window& window) {
  const Pool2d& pool = window.pool;
  const std::int64_t outputs = pool.y.output * pool.x.output;
  const std::int64_t inputs = pool.y.input * pool.x.input;
  const IndexDivisor of_plane(outputs);
  const IndexDivisor of_row(pool.x.output);
  for_each_element(
      label, exec, static_cast<std::size_t>(pool.planes * outputs), chunk::light,
      KOKKOS_LAMBDA(const std::size_t index) {
        const auto i = static_cast<std::int64_t>(index);
        const IndexDivisor::Parts plane = of_plane.divide(i);
        const IndexDivisor::Parts place = of_row.divide(plane.rest);
        window.at(window.x + plane.quotient * inputs, place.quotient, place.rest, i);
      });
}

/// Whether what windows hand out one after the other would be rounded every time: of bf16, where
/// windows overlap. Then an input collects.
template <class T>
bool rounds_sums(const Pool2d& pool) {
  return !std::is_same_v<T, Wide<T>> &&
         (pool.y.kernel > pool.y.stride || pool.x.kernel > pool.x.stride);
}

/// Windows that cover an input coordinate of an axis: [first(i), last(i)).
class WindowsOver {
 public:
  explicit WindowsOver(const PoolAxis& axis) : axis_(axis), stride_(axis.stride) {}

  KOKKOS_INLINE_FUNCTION std::int64_t first(std::int64_t i) const {
    const std::int64_t before = i + axis_.padding - axis_.kernel;
    return before < 0 ? 0 : stride_.quotient(before) + 1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t last(std::int64_t i) const {
    const std::int64_t last = stride_.quotient(i + axis_.padding) + 1;
    return last > axis_.output ? axis_.output : last;
  }

 private:
  PoolAxis axis_;
  IndexDivisor stride_;
};

/// f(row, column) for the windows that cover an input.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_over(const WindowsOver& y, const WindowsOver& x,
                                          std::int64_t row, std::int64_t column, const F& f) {
  const std::int64_t first = x.first(column);
  const std::int64_t last = x.last(column);
  const std::int64_t last_row = y.last(row);
  for (std::int64_t i = y.first(row); i < last_row; ++i) {
    for (std::int64_t j = first; j < last; ++j) {
      f(i, j);
    }
  }
}

template <HostSpace Exec, class Gradient>
void for_each_input(const char* label, const Exec& exec, const Gradient& gradient) {
  const Pool2d& pool = gradient.pool;
  const auto inputs =
      static_cast<std::size_t>(std::max<std::int64_t>(pool.y.input * pool.x.input, 1));
  for_each_element(label, exec, static_cast<std::size_t>(pool.planes),
                   std::max<std::size_t>(chunk::light / inputs, 1), [=](const std::size_t plane) {
                     const auto p = static_cast<std::int64_t>(plane);
                     if (rounds_sums<std::decay_t<decltype(*gradient.d_x)>>(gradient.pool)) {
                       auto* to = gradient.d_x + p * static_cast<std::int64_t>(inputs);
                       for (std::int64_t row = 0; row < gradient.pool.y.input; ++row) {
                         for (std::int64_t i = 0; i < gradient.pool.x.input; ++i) {
                           *to++ = gradient.collect(p, row, i);
                         }
                       }
                     } else {
                       gradient.scatter(p);
                     }
                   });
}

template <DeviceSpace Exec, class Gradient>
void for_each_input(const char* label, const Exec& exec, const Gradient& gradient) {
  const std::int64_t inputs = gradient.pool.y.input * gradient.pool.x.input;
  const IndexDivisor of_plane(inputs);
  const IndexDivisor of_row(gradient.pool.x.input);
  for_each_element(
      label, exec, static_cast<std::size_t>(gradient.pool.planes * inputs), chunk::light,
      KOKKOS_LAMBDA(const std::size_t index) {
        const auto i = static_cast<std::int64_t>(index);
        const IndexDivisor::Parts plane = of_plane.divide(i);
        const IndexDivisor::Parts place = of_row.divide(plane.rest);
        gradient.d_x[i] = gradient.collect(plane.quotient, place.quotient, place.rest);
      });
}

template <class A, class B>
void require_extents(const Pool2d& pool, const A& input, const B& output) {
  ZYGOS_REQUIRE(
      static_cast<std::int64_t>(input.size()) == pool.planes * pool.y.input * pool.x.input &&
          static_cast<std::int64_t>(output.size()) == pool.planes * pool.y.output * pool.x.output,
      "ops::pool2d: dimensions do not fit");
}

}  // namespace zygos::ops
