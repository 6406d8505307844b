// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "support/random_values.hpp"
#include "support/skip.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::ops::test_bf16x3_gemm {
namespace {

using testing::random_values;

constexpr GemmForm forms[] = {GemmForm::nn, GemmForm::tn, GemmForm::nt};
constexpr float guard_word = 113.0F;
constexpr std::size_t gap = 3;  // elements between rows

std::vector<float> floats(std::size_t count, std::uint64_t seed) {
  const std::vector<double> values = random_values(count, seed);
  std::vector<float> result(count);
  std::transform(values.begin(), values.end(), result.begin(),
                 [](double value) { return static_cast<float>(value); });
  return result;
}

/// Row-major operands with gaps between the rows that are stored; results lie among guard words.
struct SplitCase {
  SplitCase(GemmForm which, std::size_t rows, std::size_t columns, std::size_t depth)
      : form(which),
        m(rows),
        n(columns),
        k(depth),
        a(floats((turned_a() ? k : m) * a_stride(), 1)),
        b(floats((turned_b() ? n : k) * b_stride(), 2)),
        c(m * c_stride(), guard_word) {}

  bool turned_a() const { return form == GemmForm::tn; }
  bool turned_b() const { return form == GemmForm::nt; }
  std::size_t a_stride() const { return (turned_a() ? m : k) + gap; }
  std::size_t b_stride() const { return (turned_b() ? k : n) + gap; }
  std::size_t c_stride() const { return n + gap; }
  float& a_at(std::size_t i, std::size_t l) {
    return turned_a() ? a[l * a_stride() + i] : a[i * a_stride() + l];
  }
  float& b_at(std::size_t l, std::size_t j) {
    return turned_b() ? b[j * b_stride() + l] : b[l * b_stride() + j];
  }

  /// Rows and columns of the result from (row, column) on.
  void multiply(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns,
                bool added) {
    bf16x3_gemm({form, rows, columns, k, &a_at(row, 0), a_stride(), &b_at(0, column), b_stride(),
                 c.data() + row * c_stride() + column, c_stride(), added});
  }
  void multiply(bool added = false) { multiply(0, 0, m, n, added); }

  bool gaps_intact() const {
    for (std::size_t i = 0; i < m; ++i) {
      const auto end = c.begin() + static_cast<std::ptrdiff_t>((i + 1) * c_stride());
      if (!std::all_of(end - gap, end, [](float value) { return value == guard_word; })) {
        return false;
      }
    }
    return true;
  }

  struct Errors {
    double largest = 0.0;  ///< relative to the sum of the products' absolute values
    double squares = 0.0;
    double squares_of_floats = 0.0;  ///< of a sum of floats, product after product
  };
  Errors errors(float before) {
    Errors all;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = before;
        double size = std::abs(before);
        float in_float = before;
        for (std::size_t l = 0; l < k; ++l) {
          const double product = double{a_at(i, l)} * double{b_at(l, j)};
          sum += product;
          size += std::abs(product);
          in_float += a_at(i, l) * b_at(l, j);
        }
        const double error = (c[i * c_stride() + j] - sum) / size;
        const double of_float = (in_float - sum) / size;
        all.largest = std::max(all.largest, std::abs(error));
        all.squares += error * error;
        all.squares_of_floats += of_float * of_float;
      }
    }
    return all;
  }

  GemmForm form;
  std::size_t m;
  std::size_t n;
  std::size_t k;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
};

/// Of the sum of absolute products: three times what is left out of one at most.
constexpr double bound = 3.0 / (1 << 22);

void require_amx() {
  if (!has_bf16x3_gemm()) {
    test::skip_without("amx", "this processor, or this build for a lesser one, has no AMX");
  }
}

}  // namespace

TEST_CASE("A bf16x3 GEMM equals the reference for any dimensions and strides") {
  require_amx();
  for (const GemmForm form : forms) {
    for (const std::size_t m : {1U, 15U, 16U, 33U, 300U}) {
      for (const std::size_t n : {1U, 17U, 32U, 79U, 144U}) {
        for (const std::size_t k : {1U, 31U, 32U, 65U, 530U}) {
          SplitCase data(form, m, n, k);
          CAPTURE(static_cast<int>(form), m, n, k);
          data.multiply();
          CHECK(data.errors(0.0F).largest < bound);
          CHECK(data.gaps_intact());
          for (std::size_t i = 0; i < m; ++i) {
            std::fill_n(data.c.begin() + static_cast<std::ptrdiff_t>(i * data.c_stride()), n, 0.5F);
          }
          data.multiply(true);
          CHECK(data.errors(0.5F).largest < bound);
          CHECK(data.gaps_intact());
        }
      }
    }
  }
}

TEST_CASE("A bf16x3 GEMM errs less than a sum of floats") {
  require_amx();
  for (const std::size_t k : {64U, 400U, 1500U}) {
    SplitCase data(GemmForm::nn, 64, 64, k);
    data.multiply();
    const SplitCase::Errors errors = data.errors(0.0F);
    CAPTURE(k, errors.squares, errors.squares_of_floats);
    CHECK(errors.squares < errors.squares_of_floats);
  }
}

TEST_CASE("A bf16x3 GEMM has the same bits in tiles of any dimensions") {
  require_amx();
  for (const GemmForm form : forms) {
    SplitCase whole(form, 150, 200, 333);
    SplitCase tiled(form, 150, 200, 333);
    const GemmTiling tiling(150, 200, GemmTiling::Extents{40, 50});
    for (const bool added : {false, true}) {
      whole.multiply(added);
      for (std::int64_t i = 0; i < tiling.count(); ++i) {
        const GemmTile tile = tiling[i];
        tiled.multiply(static_cast<std::size_t>(tile.row), static_cast<std::size_t>(tile.column),
                       static_cast<std::size_t>(tile.rows), static_cast<std::size_t>(tile.columns),
                       added);
      }
      CHECK(whole.c == tiled.c);
    }
  }
}

TEST_CASE("No bit of a float is lost when it is split into three bf16") {
  require_amx();
  SplitCase data(GemmForm::nn, 16, 16, 16);
  std::fill(data.b.begin(), data.b.end(), 0.0F);
  for (std::size_t i = 0; i < 16; ++i) {
    data.b_at(i, i) = 1.0F;
    for (std::size_t l = 0; l < 16; ++l) {  // all lengths, and all exponents but those of both ends
      const auto bits = static_cast<std::uint32_t>(0x00FFFFFFU >> l) * (i % 3 + 1);
      data.a_at(i, l) = std::ldexp(static_cast<float>(bits & 0x00FFFFFFU),
                                   static_cast<int>(i * 12) - 100 + static_cast<int>(l % 5)) *
                        (l % 2 == 0 ? 1.0F : -1.0F);
    }
  }
  data.multiply();
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t l = 0; l < 16; ++l) {
      CAPTURE(i, l);
      CHECK(data.c[i * data.c_stride() + l] == data.a_at(i, l));
    }
  }
}

TEST_CASE("What is no number, or infinite, reaches its results and no others") {
  require_amx();
  const float infinite = std::numeric_limits<float>::infinity();
  for (const GemmForm form : forms) {
    for (const float bad : {std::bit_cast<float>(0x7FFFFFFFU), std::bit_cast<float>(0xFFFFFFFFU),
                            std::bit_cast<float>(0x7F800001U),
                            std::numeric_limits<float>::quiet_NaN(), infinite, -infinite}) {
      SplitCase data(form, 40, 40, 40);
      data.a_at(7, 39) = bad;
      data.multiply();
      bool right = true;
      for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) {
          right = right && std::isfinite(data.c[i * data.c_stride() + j]) == (i != 7);
        }
      }
      CAPTURE(static_cast<int>(form), std::bit_cast<std::uint32_t>(bad));
      CHECK(right);
    }
  }
}

TEST_CASE("A bf16x3 GEMM of values of very different sizes is as accurate") {
  require_amx();
  SplitCase data(GemmForm::nn, 48, 48, 96);
  for (std::size_t i = 0; i < 48; ++i) {
    for (std::size_t l = 0; l < 96; ++l) {
      data.a_at(i, l) *= std::ldexp(1.0F, static_cast<int>(i) - 24 + static_cast<int>(l % 7));
      data.b_at(l, i) *= std::ldexp(1.0F, 40 - static_cast<int>(i) - static_cast<int>(l % 11));
    }
  }
  data.multiply();
  CHECK(data.errors(0.0F).largest < bound);
}

TEST_CASE("bf16x3 is profitable for products that are large in every extent") {
  for (const GemmForm form : forms) {
    CHECK(bf16x3_is_profitable(form, 256, 256, 256) == has_bf16x3_gemm());
    CHECK_FALSE(bf16x3_is_profitable(form, 256, 256, 3));
    CHECK_FALSE(bf16x3_is_profitable(form, 3, 256, 256));
    CHECK_FALSE(bf16x3_is_profitable(form, 256, 3, 256));
    CHECK_FALSE(bf16x3_is_profitable(form, 0, 0, 0));
  }
  // Few rows are not worth cutting up all weights.
  CHECK_FALSE(bf16x3_is_profitable(GemmForm::nn, 16, 1024, 1024));
  CHECK_FALSE(bf16x3_is_profitable(GemmForm::nt, 32, 1024, 1024));
}

}  // namespace zygos::ops::test_bf16x3_gemm
