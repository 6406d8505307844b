// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for a simulation: particles with positions and velocities in Views of their own, and a
// force that follows from them.
#pragma once

#include "zygos/core/philox.hpp"
#include "zygos/insitu/surrogate.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace zygos::test {

template <class T, class Layout = Kokkos::LayoutRight>
using Matrix = Kokkos::View<T**, Layout, Kokkos::HostSpace>;

/// (N, 3) positions, (N, 3) velocities, (N, 2) forces.
template <class T = double, class Layout = Kokkos::LayoutRight>
struct Particles {
  explicit Particles(std::size_t count, std::uint64_t seed = 1)
      : x("zygos::test::x", count, 3),
        v("zygos::test::v", count, 3),
        f("zygos::test::f", count, 2) {
    const RngKey key{seed, RngPurpose::data, 9};
    for (std::size_t i = 0; i < count; ++i) {
      double in[6];
      for (std::uint32_t k = 0; k < 6; ++k) {
        in[k] = uniform_float(random_block(key, i, k).v[0]);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        x(i, k) = static_cast<T>(100.0 + 5.0 * in[k]);
        v(i, k) = static_cast<T>(0.01 * (in[3 + k] - 0.5));
      }
      f(i, 0) = static_cast<T>(1000.0 * (std::sin(3.0 * in[0]) + in[1] * in[3]));
      f(i, 1) = static_cast<T>(1e-3 * (in[2] - in[4] * in[5]));
    }
  }
  auto inputs() const { return std::tuple(x, v); }
  auto part(std::size_t begin, std::size_t end) const {
    const std::pair range(begin, end);
    return std::pair(
        std::tuple(Kokkos::subview(x, range, Kokkos::ALL), Kokkos::subview(v, range, Kokkos::ALL)),
        Kokkos::subview(f, range, Kokkos::ALL));
  }

  Matrix<T, Layout> x;
  Matrix<T, Layout> v;
  Matrix<T, Layout> f;
};

inline insitu::Surrogate small_net(const Kokkos::OpenMP& exec, insitu::Options options = {}) {
  options.batch = options.batch == 256 ? 32 : options.batch;
  return insitu::Surrogate::mlp({.in = 6, .hidden = {24, 24}, .out = 2}, exec, options);
}

/// All values of a saved tensor.
inline std::vector<double> numbers_of(const insitu::StoredTensor& tensor) {
  std::vector<double> values;
  for (std::size_t i = 0; i < tensor.bytes.size(); i += size_of(tensor.dtype)) {
    if (tensor.dtype == DType::f32) {
      float value = 0.0F;
      std::memcpy(&value, tensor.bytes.data() + i, sizeof(value));
      values.push_back(static_cast<double>(value));
    } else if (tensor.dtype == DType::i64) {
      std::int64_t value = 0;
      std::memcpy(&value, tensor.bytes.data() + i, sizeof(value));
      values.push_back(static_cast<double>(value));
    } else {
      double value = 0.0;
      std::memcpy(&value, tensor.bytes.data() + i, sizeof(value));
      values.push_back(value);
    }
  }
  return values;
}

inline std::vector<double> numbers_of(const insitu::State& state, std::string_view name) {
  for (const insitu::StoredTensor& tensor : state.tensors) {
    if (tensor.name == name) {
      return numbers_of(tensor);
    }
  }
  return {};
}

inline bool equal_tensors(const insitu::StoredTensor& a, const insitu::StoredTensor& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
}

/// Bit for bit.
inline bool same(const insitu::State& a, const insitu::State& b) {
  return a.tensors.size() == b.tensors.size() &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), equal_tensors);
}

}  // namespace zygos::test
