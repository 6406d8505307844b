// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulation's Views as samples: one View, or a std::tuple of several side by side, such as
// positions and velocities. Any layout; float, double or zygos::bf16. What an execution space
// cannot access is refused by the compiler.
#pragma once

#include "zygos/infer/samples.hpp"

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace zygos::insitu {

namespace detail {

template <class View>
struct ViewList {
  static constexpr std::size_t size = 1;
  template <class Exec>
  static constexpr bool accessible =
      Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible;
  static constexpr bool writable = !std::is_const_v<typename View::value_type>;
  static std::array<infer::Samples, 1> samples(const View& view) {
    return {infer::samples_of(view)};
  }
};

template <class... Views>
struct ViewList<std::tuple<Views...>> {
  static constexpr std::size_t size = sizeof...(Views);
  template <class Exec>
  static constexpr bool accessible =
      (ViewList<std::remove_cvref_t<Views>>::template accessible<Exec> && ...);
  static constexpr bool writable = (ViewList<std::remove_cvref_t<Views>>::writable && ...);
  static std::array<infer::Samples, sizeof...(Views)> samples(const std::tuple<Views...>& views) {
    return std::apply([](const auto&... one) { return std::array{infer::samples_of(one)...}; },
                      views);
  }
};

}  // namespace detail

/// Whether kernels of `Exec` can read all of the Views.
template <class Exec, class Views>
inline constexpr bool readable = detail::ViewList<Views>::template accessible<Exec>;
/// Whether they can write them, too.
template <class Exec, class Views>
inline constexpr bool writable = readable<Exec, Views>&& detail::ViewList<Views>::writable;

/// Refuses, when compiled, Views that kernels of `Exec` cannot predict from, or into.
template <class Exec, class Inputs, class... Outputs>
constexpr void require_prediction_access() {
  static_assert(readable<Exec, Inputs>,
                "predict: the execution space cannot access the memory of an input View");
  static_assert((writable<Exec, Outputs> && ...),
                "predict: the execution space cannot access the memory of an output View, or the "
                "View is const");
}

/// The Views' memory, borrowed.
template <class Views>
auto samples_of_views(const Views& views) {
  return detail::ViewList<Views>::samples(views);
}

}  // namespace zygos::insitu
