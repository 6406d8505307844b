// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests typed by execution space and element type: every space that is tested x {float, double}.
#pragma once

#include "support/lane_bytes.hpp"
#include "support/skip.hpp"

#include "zygos/lane/lane_set.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/tensor/views.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
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

#ifdef ZYGOS_TESTS_OF_DEVICE
/// Those of the device alone: a build for the host tests the others, from the same sources.
template <class Spaces>
struct DevicesOf;
template <class Threads, class Serial, class... Devices>
struct DevicesOf<std::variant<Threads, Serial, Devices...>> {
  using type = std::variant<Devices...>;
};
using TestedSpaces = DevicesOf<lane::Spaces>::type;
#else
using TestedSpaces = lane::Spaces;
#endif

/// For TEMPLATE_LIST_TEST_CASE.
using KernelCases = CasesOf<TestedSpaces>::type;
using AllSpaces = CasesOf<TestedSpaces>::spaces;

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
  explicit Buffer(std::size_t count) : count_(count), bytes_(memory_for(count)) {
    write(std::vector<T>(count, guard_word()));
  }
  explicit Buffer(const std::vector<double>& values)
      : count_(values.size()), bytes_(memory_for(values.size())) {
    assign(values);
  }

  void assign(const std::vector<double>& values) {
    std::vector<T> elements;
    std::ranges::transform(values, std::back_inserter(elements),
                           [](double value) { return static_cast<T>(value); });
    write(elements);
  }

  /// Null for an empty buffer, as in a tensor that is not wanted.
  T* data() const { return count_ == 0 ? nullptr : begin(); }
  VectorView<Exec, T> vector() const { return {data(), count_}; }
  VectorView<Exec, const T> const_vector() const { return {data(), count_}; }
  MatrixView<Exec, T> matrix(std::size_t rows, std::size_t columns) const {
    return {begin(), rows, columns};
  }
  MatrixView<Exec, const T> const_matrix(std::size_t rows, std::size_t columns) const {
    return {begin(), rows, columns};
  }

  /// What lies between the guard words, exactly.
  std::vector<T> values() const {
    const std::vector<T> all = everything();
    return {all.begin() + guard, all.end() - guard};
  }

  bool guards_intact() const {
    const std::vector<T> all = everything();
    const auto is_guard = [](const T& word) { return word == guard_word(); };
    return std::all_of(all.begin(), all.begin() + guard, is_guard) &&
           std::all_of(all.end() - guard, all.end(), is_guard);
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  static constexpr T guard_word() { return static_cast<T>(113); }

  static LaneBytes memory_for(std::size_t count) {
    return {lane::Execution(Exec()), (count + 2 * guard) * sizeof(T)};
  }

  T* begin() const { return reinterpret_cast<T*>(bytes_.data()) + guard; }

  void write(const std::vector<T>& elements) const {
    std::vector<T> all(count_ + 2 * guard, guard_word());
    std::copy_n(elements.begin(), count_, all.begin() + guard);
    bytes_.copy_from(std::as_bytes(std::span(all)));
  }

  std::vector<T> everything() const {
    std::vector<T> all(count_ + 2 * guard);
    bytes_.copy_to(std::as_writable_bytes(std::span(all)));
    return all;
  }

  std::size_t count_;
  LaneBytes bytes_;
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
