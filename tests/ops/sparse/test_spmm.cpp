// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/sparse/spmm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

namespace zygos::ops::test_spmm {

using testing::Buffer;
using testing::difference;
using testing::make_exec;
using testing::random_integer;
using testing::random_values;
using testing::rounded;

namespace {

struct Entries {
  std::size_t rows, columns;
  std::vector<double> offsets{0.0};
  std::vector<double> column_of;
  std::vector<double> values;
};

/// Every third row is empty, one has entries everywhere, the others up to five.
template <class T>
Entries drawn(std::size_t rows, std::size_t columns, std::uint64_t draw) {
  Entries out{rows, columns, {0.0}, {}, {}};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t count =
        row % 3 == 2 ? 0
        : row == 1
            ? columns
            : static_cast<std::size_t>(random_integer(0, 5, draw, static_cast<std::uint32_t>(row)));
    for (std::size_t i = 0; i < count && columns > 0; ++i) {
      out.column_of.push_back(static_cast<double>((i * 7 + row) % columns));
    }
    out.offsets.push_back(static_cast<double>(out.column_of.size()));
  }
  out.values = rounded<T>(random_values(out.column_of.size(), draw));
  return out;
}

double applied(Activation which, double x) {
  return which == Activation::relu   ? std::max(x, 0.0)
         : which == Activation::tanh ? std::tanh(x)
                                     : x;
}

/// In double, entry by entry.
std::vector<double> reference(const Entries& a, const std::vector<double>& x, std::size_t samples,
                              std::size_t width, const std::vector<double>& bias,
                              Activation which) {
  std::vector<double> y(samples * a.rows * width, 0.0);
  for (std::size_t i = 0; i < samples * a.rows; ++i) {
    const std::size_t row = i % a.rows;
    for (std::size_t j = 0; j < width; ++j) {
      double sum = bias.empty() ? 0.0 : bias[j];
      for (auto entry = static_cast<std::size_t>(a.offsets[row]);
           entry < static_cast<std::size_t>(a.offsets[row + 1]); ++entry) {
        const auto column = static_cast<std::size_t>(a.column_of[entry]);
        sum += a.values[entry] * x[(i / a.rows * a.columns + column) * width + j];
      }
      y[i * width + j] = applied(which, sum);
    }
  }
  return y;
}

template <class Exec, class T>
struct Product {
  Product(const Entries& entries, std::vector<double> values, std::size_t samples,
          std::size_t columns)
      : rows(entries.rows * samples),
        width(columns),
        offsets(entries.offsets),
        column_of(entries.column_of),
        weights(entries.values),
        x(values),
        y(rows * width),
        matrix{entries.columns, offsets.const_vector(), column_of.const_vector(),
               weights.const_vector()},
        of_samples(entries.columns * samples) {}

  void run(const Exec& exec, const Epilogue<Exec, T>& epilogue = {}) const {
    spmm<Exec, T>(exec, matrix, x.const_matrix(of_samples, width), y.matrix(rows, width), epilogue);
    exec.fence("zygos::test");
  }

  std::size_t rows, width;
  Buffer<Exec, std::int32_t> offsets, column_of;
  Buffer<Exec, T> weights, x, y;
  SparseRows<Exec, T> matrix;
  std::size_t of_samples;
};

struct Extents {
  std::size_t rows, columns, width, samples;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("An SpMM sums a row's entries, by hand", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  // (2 0 -1; 0 0 0; 0 3 0) of two samples with two columns.
  const Entries a{3, 3, {0, 2, 2, 3}, {0, 2, 1}, {2, -1, 3}};
  const Product<Exec, T> product(a, {1, 2, 3, 4, 5, 6, -1, 0, 1, 0, 2, 10}, 2, 2);

  product.run(make_exec<Exec>());

  CHECK(product.y.values() == std::vector<T>{-3, -2, 0, 0, 9, 12, -4, -10, 0, 0, 3, 0});
}

TEMPLATE_LIST_TEST_CASE("An SpMM is what a serial loop in double gives", "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  std::uint64_t draw = 0;
  for (const Extents& one :
       {Extents{0, 5, 3, 0}, Extents{1, 1, 1, 1}, Extents{3, 0, 4, 2}, Extents{5, 7, 0, 2},
        Extents{1, 9, 3, 4}, Extents{7, 3, 85, 3}, Extents{17, 31, 64, 5}, Extents{33, 6, 19, 1},
        Extents{999, 1203, 67, 1}, Extents{61, 11, 16, 130}}) {
    CAPTURE(one.rows, one.columns, one.width, one.samples);
    const Entries a = drawn<T>(one.rows, one.columns, ++draw);
    const auto x = rounded<T>(random_values(one.samples * one.columns * one.width, ++draw));
    const auto bias = rounded<T>(random_values(one.width, ++draw));
    const Buffer<Exec, T> held(bias);
    const double tolerance = 8.0 + static_cast<double>(one.columns) / 4.0;
    for (const Activation which : {Activation::none, Activation::relu, Activation::tanh}) {
      const Product<Exec, T> product(a, x, one.samples, one.width);
      Epilogue<Exec, T> epilogue;
      epilogue.activation = which;
      std::vector<double> added;
      if (which != Activation::none) {
        epilogue.bias = held.const_vector();
        added = bias;
      }
      product.run(exec, epilogue);
      CHECK(difference(product.y.values(), reference(a, x, one.samples, one.width, added, which),
                       tolerance) == "");
      CHECK(product.y.guards_intact());
    }
  }
}

TEST_CASE("An SpMM has the same bits for any number of threads") {
  const Entries a = drawn<float>(2003, 1501, 5);
  const auto x = rounded<float>(random_values(2 * 1501 * 37, 6));
  const auto bits = [&](int threads) {
    const Product<Kokkos::OpenMP, float> product(a, x, 2, 37);
    product.run(Kokkos::OpenMP(threads));
    return product.y.values();
  };
  const auto one = bits(1);

  CHECK(bits(2) == one);
  CHECK(bits(3) == one);
  CHECK(bits(4) == one);
}

}  // namespace zygos::ops::test_spmm
