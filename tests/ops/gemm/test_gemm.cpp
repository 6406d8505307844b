// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.hpp"
#include "reference/activation.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace zygos::ops::test_gemm {
namespace {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

struct Extents {
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

/// Zero, one, odd, above a warp, several tiles of either kind, large tiles; many rows for few
/// results.
const std::vector<Extents> shapes{{1, 1, 1},      {1, 1, 0},      {3, 2, 0},       {0, 4, 3},
                                  {4, 0, 3},      {1, 7, 5},      {7, 1, 33},      {33, 35, 37},
                                  {100, 10, 128}, {67, 129, 300}, {130, 70, 1100}, {300, 270, 900},
                                  {64, 64, 256},  {5, 33, 1025}};

/// K products of elements below one: the rounding errors sum like K epsilon at worst.
double tolerance(const Extents& shape) { return 4.0 + static_cast<double>(shape.k) * 0.5; }

/// What is there before a product, where it is added.
constexpr double before = 7.0;

template <class Exec, class T>
struct Operands {
  explicit Operands(const Extents& shape)
      : a_values(rounded<T>(random_values(shape.m * shape.k, 1))),
        b_values(rounded<T>(random_values(shape.k * shape.n, 2))),
        bias_values(rounded<T>(random_values(shape.n, 3))),
        a(a_values),
        b(b_values),
        bias(bias_values),
        c(std::vector<double>(shape.m * shape.n, before)),
        expected(reference::gemm(shape.m, shape.n, shape.k, a_values, b_values)) {}

  std::vector<double> a_values;
  std::vector<double> b_values;
  std::vector<double> bias_values;
  Buffer<Exec, T> a;
  Buffer<Exec, T> b;
  Buffer<Exec, T> bias;
  Buffer<Exec, T> c;
  std::vector<double> expected;
};

std::vector<double> added_to(double there, std::vector<double> values) {
  for (double& value : values) {
    value += there;
  }
  return values;
}

template <class Exec, class T>
void check_first_transposed(Into into) {
  const Exec exec = make_exec<Exec>();
  const double there = into == Into::added ? before : 0.0;
  for (const Extents& shape : shapes) {
    const Operands<Exec, T> data(shape);
    const Buffer<Exec, T> a(reference::transposed(shape.m, shape.k, data.a_values));
    const Buffer<Exec, T> sums(std::vector<double>(shape.n, before));

    gemm_tn<Exec, T>(exec, a.const_matrix(shape.k, shape.m), data.b.const_matrix(shape.k, shape.n),
                     data.c.matrix(shape.m, shape.n), sums.vector(), into);
    exec.fence("zygos::test");

    CAPTURE(shape.m, shape.n, shape.k);
    CHECK(difference(data.c.values(), added_to(there, data.expected), tolerance(shape)) == "");
    // They are summed in double, which doubles themselves feel.
    const bool rounds = std::is_same_v<T, double> || into == Into::added;
    const auto expected_sums = reference::column_sums(shape.k, shape.n, data.b_values);
    CHECK(difference(sums.values(), added_to(there, expected_sums),
                     rounds ? tolerance(shape) : 1.0) == "");
    CHECK(data.c.guards_intact());
    CHECK(sums.guards_intact());
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("A small product is what a pencil says", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, T> a(std::vector<double>{1, 2, 3, 4, 5, 6});     // (2, 3)
  const Buffer<Exec, T> b(std::vector<double>{1, 0, -1, 2, 0.5, 3});  // (3, 2)
  const Buffer<Exec, T> bias(std::vector<double>{0.5, -20});
  Buffer<Exec, T> c(4);

  gemm<Exec, T>(exec, a.const_matrix(2, 3), b.const_matrix(3, 2), c.matrix(2, 2));
  exec.fence("zygos::test");
  CHECK(c.values() == std::vector<T>{T(0.5), T(13), T(2), T(28)});

  gemm<Exec, T>(exec, a.const_matrix(2, 3), b.const_matrix(3, 2), c.matrix(2, 2),
                {bias.const_vector(), Activation::relu});
  exec.fence("zygos::test");
  CHECK(c.values() == std::vector<T>{T(1), T(0), T(2.5), T(8)});
}

TEMPLATE_LIST_TEST_CASE("A product keeps NaN under each activation", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  auto values = random_values(64 * 48, 1);
  values[5] = std::nan("");  // of the first row
  const Buffer<Exec, T> a(values);
  const Buffer<Exec, T> b(random_values(48 * 32, 2));
  const Buffer<Exec, T> bias(random_values(32, 3));
  for (const Activation which : {Activation::none, Activation::relu, Activation::tanh,
                                 Activation::sigmoid, Activation::gelu}) {
    Buffer<Exec, T> c(64 * 32);

    gemm<Exec, T>(exec, a.const_matrix(64, 48), b.const_matrix(48, 32), c.matrix(64, 32),
                  {bias.const_vector(), which});
    exec.fence("zygos::test");

    const auto found = c.values();
    const auto is_nan = [](T value) { return std::isnan(value); };
    CAPTURE(static_cast<int>(which));
    CHECK(std::all_of(found.begin(), found.begin() + 32, is_nan));
    CHECK(std::none_of(found.begin() + 32, found.end(), is_nan));
  }
}

TEMPLATE_LIST_TEST_CASE("A product with bias and activation equals the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    for (const Activation which : {Activation::none, Activation::relu, Activation::tanh}) {
      Operands<Exec, T> data(shape);
      for (std::size_t i = 0; i < data.expected.size(); ++i) {
        data.expected[i] =
            reference::activated(which, data.expected[i] + data.bias_values[i % shape.n]);
      }

      gemm<Exec, T>(exec, data.a.const_matrix(shape.m, shape.k),
                    data.b.const_matrix(shape.k, shape.n), data.c.matrix(shape.m, shape.n),
                    {data.bias.const_vector(), which});
      exec.fence("zygos::test");

      CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(which));
      CHECK(difference(data.c.values(), data.expected, tolerance(shape)) == "");
      CHECK(data.c.guards_intact());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("A product with the first factor transposed brings column sums along", "",
                        testing::KernelCases) {
  check_first_transposed<typename TestType::Exec, typename TestType::T>(Into::replaced);
}

TEMPLATE_LIST_TEST_CASE("A product with the second factor transposed equals the reference", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : shapes) {
    const Operands<Exec, T> data(shape);
    const Buffer<Exec, T> b(reference::transposed(shape.k, shape.n, data.b_values));

    gemm_nt<Exec, T>(exec, data.a.const_matrix(shape.m, shape.k), b.const_matrix(shape.n, shape.k),
                     data.c.matrix(shape.m, shape.n));
    exec.fence("zygos::test");

    CAPTURE(shape.m, shape.n, shape.k);
    CHECK(difference(data.c.values(), data.expected, tolerance(shape)) == "");
    CHECK(data.c.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("A product is added to what is there, and so are its column sums", "",
                        testing::KernelCases) {
  check_first_transposed<typename TestType::Exec, typename TestType::T>(Into::added);
}

TEST_CASE("Products have the same bits for any number of threads") {
  using Exec = Kokkos::OpenMP;
  for (const Extents& shape : shapes) {
    const Operands<Exec, float> data(shape);
    const auto product = [&](int threads) {
      const Buffer<Exec, float> c(shape.m * shape.n);
      const Buffer<Exec, float> sums(shape.n);
      const Exec exec = make_exec<Exec>(threads);
      gemm<Exec, float>(exec, data.a.const_matrix(shape.m, shape.k),
                        data.b.const_matrix(shape.k, shape.n), c.matrix(shape.m, shape.n),
                        {data.bias.const_vector(), Activation::sigmoid});
      std::vector<float> all = c.values();
      gemm_tn<Exec, float>(exec, data.a.const_matrix(shape.k, shape.m),
                           data.b.const_matrix(shape.k, shape.n), c.matrix(shape.m, shape.n),
                           sums.vector());
      const auto more = c.values();
      const auto last = sums.values();
      all.insert(all.end(), more.begin(), more.end());
      all.insert(all.end(), last.begin(), last.end());
      return all;
    };
    const std::vector<float> one = product(1);

    CHECK(product(2) == one);
    CHECK(product(3) == one);
    CHECK(product(4) == one);
  }
}

}  // namespace zygos::ops::test_gemm
