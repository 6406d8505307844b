// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes whole planes: forwards window by window, backwards by handing each window's
// gradient to its inputs. A device has a thread per output, and in the gradient per input, which
// collects from the windows over it in the same order.
#pragma once

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
  for_each_element(
      label, exec, static_cast<std::size_t>(pool.planes * outputs), chunk::light,
      KOKKOS_LAMBDA(const std::size_t index) {
        const auto i = static_cast<std::int64_t>(index);
        window.at(window.x + i / outputs * inputs, i % outputs / window.pool.x.output,
                  i % window.pool.x.output, i);
      });
}

/// Whether what windows hand out one after the other would be rounded every time: of bf16, where
/// windows overlap. Then an input collects.
template <class T>
bool rounds_sums(const Pool2d& pool) {
  return !std::is_same_v<T, Wide<T>> &&
         (pool.y.kernel > pool.y.stride || pool.x.kernel > pool.x.stride);
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
                       const auto count = static_cast<std::int64_t>(inputs);
                       for (std::int64_t i = 0; i < count; ++i) {
                         gradient.d_x[p * count + i] = gradient.collect(p, i);
                       }
                     } else {
                       gradient.scatter(p);
                     }
                   });
}

template <DeviceSpace Exec, class Gradient>
void for_each_input(const char* label, const Exec& exec, const Gradient& gradient) {
  const std::int64_t inputs = gradient.pool.y.input * gradient.pool.x.input;
  for_each_element(
      label, exec, static_cast<std::size_t>(gradient.pool.planes * inputs), chunk::light,
      KOKKOS_LAMBDA(const std::size_t index) {
        const auto i = static_cast<std::int64_t>(index);
        gradient.d_x[i] = gradient.collect(i / inputs, i % inputs);
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
