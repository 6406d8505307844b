// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests typed by execution space and element type: every space of this build x {float, double}.
#pragma once

#include "support/skip.hpp"

#include "zygos/lane/lane_set.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/tensor/views.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace zygos::testing {

template <class ExecType, class Element>
struct Case {
  using Exec = ExecType;
  using T = Element;
};

template <class Spaces>
struct CasesOf;
template <class... Execs>
struct CasesOf<std::variant<Execs...>> {
  using type = std::tuple<Case<Execs, float>..., Case<Execs, double>...>;
  using spaces = std::tuple<Execs...>;
};

/// For TEMPLATE_LIST_TEST_CASE.
using KernelCases = CasesOf<lane::Spaces>::type;
using AllSpaces = CasesOf<lane::Spaces>::spaces;

/// An instance; OpenMP with three threads, so that work does not divide evenly. Skips the test for
/// a device that is not there.
template <class Exec>
Exec make_exec(int threads = 3) {
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    return Kokkos::OpenMP(threads);
  } else {
    if (!std::is_same_v<Exec, Kokkos::Serial> && lane::device_count() == 0) {
      test::skip_without("gpu", "no device on this machine");
    }
    return Exec();
  }
}

/// Memory of a space between two stretches of guard words.
template <class Exec, class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count)
      : count_(count), view_("zygos::testing::buffer", count + 2 * guard) {
    Kokkos::deep_copy(view_, guard_word());
  }
  explicit Buffer(const std::vector<double>& values) : Buffer(values.size()) { assign(values); }

  void assign(const std::vector<double>& values) {
    auto host = Kokkos::create_mirror_view(view_);
    Kokkos::deep_copy(host, view_);
    for (std::size_t i = 0; i < count_; ++i) {
      host(guard + i) = static_cast<T>(values[i]);
    }
    Kokkos::deep_copy(view_, host);
  }

  /// Null for an empty buffer, as in a tensor that is not wanted.
  T* data() const { return count_ == 0 ? nullptr : view_.data() + guard; }
  VectorView<Exec, T> vector() const { return {data(), count_}; }
  VectorView<Exec, const T> const_vector() const { return {data(), count_}; }
  MatrixView<Exec, T> matrix(std::size_t rows, std::size_t columns) const {
    return {view_.data() + guard, rows, columns};
  }
  MatrixView<Exec, const T> const_matrix(std::size_t rows, std::size_t columns) const {
    return {view_.data() + guard, rows, columns};
  }

  /// What lies between the guard words, exactly.
  std::vector<T> values() const {
    auto host = Kokkos::create_mirror_view(view_);
    Kokkos::deep_copy(host, view_);
    std::vector<T> result;
    for (std::size_t i = 0; i < count_; ++i) {
      result.push_back(host(guard + i));
    }
    return result;
  }

  bool guards_intact() const {
    auto host = Kokkos::create_mirror_view(view_);
    Kokkos::deep_copy(host, view_);
    bool intact = true;
    for (std::size_t i = 0; i < guard; ++i) {
      intact = intact && host(i) == guard_word() && host(guard + count_ + i) == guard_word();
    }
    return intact;
  }

 private:
  static constexpr std::size_t guard = 64;
  static constexpr T guard_word() { return static_cast<T>(113); }

  std::size_t count_;
  Kokkos::View<T*, typename Exec::memory_space> view_;
};

/// The values as the element type rounds them, back in double.
template <class T>
std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) {
    value = static_cast<double>(static_cast<T>(value));
  }
  return values;
}

/// What a rounding to the type errs by; of float and double twice that.
template <class T>
inline constexpr double epsilon_of = static_cast<double>(std::numeric_limits<T>::epsilon());
template <>
inline constexpr double epsilon_of<bf16> = 1.0 / 256.0;

/// Empty if every value lies within `tolerance` (of the type's epsilon, times the larger of
/// magnitude and 1) of its reference; else what differs.
template <class T>
std::string difference(const std::vector<T>& found, const std::vector<double>& expected,
                       double tolerance) {
  if (found.size() != expected.size()) {
    return "sizes differ: " + std::to_string(found.size()) + ", " + std::to_string(expected.size());
  }
  const double epsilon = epsilon_of<T>;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double bound = tolerance * epsilon * std::max(1.0, std::abs(expected[i]));
    if (!(std::abs(static_cast<double>(found[i]) - expected[i]) <= bound)) {
      return "element " + std::to_string(i) + ": " + std::to_string(found[i]) + ", expected " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

}  // namespace zygos::testing
