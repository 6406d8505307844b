// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes multiply at the same moment. A BLAS whose callers share a buffer passes most of these
// products and fails a few, so all forms are tried often, at sizes with and without packing.
#include "ops/gemm/gemm.hpp"
#include "support/random_values.hpp"

#include <Kokkos_Core.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace zygos::ops::test_gemm_lanes {
namespace {

using Exec = Kokkos::Serial;

enum class Form { nn, tn, nt };

struct Extents {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

/// One product with operands of its own.
template <class T>
class Product {
 public:
  Product(Form form, const Extents& shape, std::uint64_t seed)
      : form_(form),
        shape_(shape),
        a_(values(shape.m * shape.k, seed)),
        b_(values(shape.k * shape.n, seed + 1)),
        c_(shape.m * shape.n) {}

  const std::vector<T>& compute() {
    const auto& [m, n, k] = shape_;
    std::fill(c_.begin(), c_.end(), T(113));
    const MatrixView<Exec, T> c(c_.data(), m, n);
    switch (form_) {
      case Form::nn:
        gemm<Exec, T>(Exec(), {a_.data(), m, k}, {b_.data(), k, n}, c);
        break;
      case Form::tn:
        gemm_tn<Exec, T>(Exec(), {a_.data(), k, m}, {b_.data(), k, n}, c);
        break;
      case Form::nt:
        gemm_nt<Exec, T>(Exec(), {a_.data(), m, k}, {b_.data(), n, k}, c);
        break;
    }
    return c_;
  }

 private:
  static std::vector<T> values(std::size_t count, std::uint64_t seed) {
    const auto doubles = testing::random_values(count, seed);
    return {doubles.begin(), doubles.end()};
  }

  Form form_;
  Extents shape_;
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<T> c_;
};

/// Products that differ from the same product computed alone.
template <class T>
int wrong_products(Form form, const Extents& shape, int repetitions) {
  constexpr std::size_t lanes = 3;
  std::vector<int> wrong(lanes, 0);
  std::barrier start(lanes);
  std::vector<std::vector<T>> alone;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    alone.push_back(Product<T>(form, shape, 10 * lane).compute());
  }
  std::vector<std::jthread> threads;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      Product<T> product(form, shape, 10 * lane);
      start.arrive_and_wait();
      for (int i = 0; i < repetitions; ++i) {
        wrong[lane] += product.compute() == alone[lane] ? 0 : 1;
      }
    });
  }
  threads.clear();
  return wrong[0] + wrong[1] + wrong[2];
}

}  // namespace

TEMPLATE_TEST_CASE("Lanes that multiply at the same moment get the bits they get alone", "", float,
                   double) {
  for (const Form form : {Form::nn, Form::tn, Form::nt}) {
    for (const auto& [shape, repetitions] : {std::pair{Extents{20, 17, 3}, 20000},
                                             {{37, 41, 43}, 4000},
                                             {{110, 128, 100}, 300},
                                             {{128, 256, 784}, 10}}) {
      CAPTURE(static_cast<int>(form), shape.m, shape.n, shape.k);
      CHECK(wrong_products<TestType>(form, shape, repetitions) == 0);
    }
  }
}

}  // namespace zygos::ops::test_gemm_lanes
