// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace zygos;

namespace {

/// How often a (20, 3) times b (17, 3) transposed differs from its first result.
template <class T>
int wrong_products(int repetitions) {
  constexpr std::size_t m = 20, n = 17, k = 3;
  const std::vector<T> a(m * k, T(0.37));
  const std::vector<T> b(n * k, T(0.53));
  const T expected = T(0.37) * T(0.53) * T(3);
  std::atomic<int> wrong{0};
  const auto lane = [&] {
    const Kokkos::Serial exec{Kokkos::NewInstance{}};
    std::vector<T> c(m * n);
    for (int i = 0; i < repetitions; ++i) {
      ops::gemm_nt<Kokkos::Serial, T>(exec, {a.data(), m, k}, {b.data(), n, k}, {c.data(), m, n});
      for (const T value : c) {
        wrong += std::abs(value - expected) > T(1e-5) ? 1 : 0;
      }
    }
  };
  std::thread first(lane);
  std::thread second(lane);
  first.join();
  second.join();
  return wrong;
}

}  // namespace

TEST_CASE("Two lanes may multiply by a transposed matrix at once", "[ops][gemm]") {
  CHECK(wrong_products<float>(50000) == 0);
  CHECK(wrong_products<double>(50000) == 0);
}
