// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/host_gemm.hpp"
#include "ops/gemm/microkernel/extents.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::ops::test_host_gemm {
namespace {

using testing::difference;
using testing::random_values;
using testing::rounded;

constexpr std::int64_t guard = 64;
constexpr double guard_word = 113.0;

std::size_t count_of(std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); }

/// A product and its memory, whose result starts `shift` elements after an aligned address.
template <class T>
class GemmCase {
 public:
  GemmCase(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t shift = 0)
      : m_(m), n_(n), k_(k), form_(form), shift_(shift) {
    const auto a = rounded<T>(random_values(count_of(m, k), 1));
    const auto b = rounded<T>(random_values(count_of(k, n), 2));
    before_ = rounded<T>(random_values(count_of(m, n), 3));
    expected_ = reference::gemm(static_cast<std::size_t>(m), static_cast<std::size_t>(n),
                                static_cast<std::size_t>(k), a, b);
    a_ = stored(form == GemmForm::tn ? transposed(m, k, a) : a);
    b_ = stored(form == GemmForm::nt ? transposed(k, n, b) : b);
  }

  /// The result, computed in tiles of so many rows and columns.
  std::vector<T> compute(bool added, std::int64_t rows, std::int64_t columns) {
    std::vector<double> values(static_cast<std::size_t>(guard), guard_word);
    values.insert(values.end(), before_.begin(), before_.end());
    values.insert(values.end(), static_cast<std::size_t>(guard), guard_word);
    std::vector<T> c = stored(values);
    T* const first = c.data() + shift_ + guard;
    const HostGemm<T> product{form_, m_,   n_, k_, a_.data() + shift_, b_.data() + shift_,
                              first, added};
    const GemmTiling tiling(m_, n_, GemmTiling::Extents{rows, columns});
    for (std::int64_t i = 0; i < tiling.count(); ++i) {
      product.compute(tiling[i]);
    }
    T* const end = first + m_ * n_;
    intact_ =
        std::all_of(first - guard, first, is_guard) && std::all_of(end, end + guard, is_guard);
    return {first, end};
  }

  /// The same, added, with operands and results whose rows lie apart.
  std::vector<T> compute_apart() {
    HostGemm<T> product{form_, m_, n_, k_, nullptr, nullptr, nullptr, true};
    const std::vector<T> a = apart(a_, product.a_stride, 5);
    const std::vector<T> b = apart(b_, product.b_stride, 3);
    std::vector<T> c = apart(stored(before_), n_, 7);
    product.a = a.data();
    product.b = b.data();
    product.c = c.data();
    product.a_stride += 5;
    product.b_stride += 3;
    product.c_stride += 7;
    product.compute({0, 0, m_, n_});
    std::vector<T> result;
    intact_ = true;
    for (auto row = c.begin(); row != c.end(); row += n_ + 7) {
      result.insert(result.end(), row, row + n_);
      intact_ = intact_ && std::all_of(row + n_, row + n_ + 7, is_guard);
    }
    return result;
  }
  bool intact() const { return intact_; }

  /// Empty if the results are right and nothing was written beside them.
  std::string complaint() {
    const double tolerance = 4.0 + static_cast<double>(k_) * 0.5;
    std::string text = difference(compute(false, m_, n_), expected_, tolerance);
    text += intact_ ? "" : "wrote beside the result";
    std::vector<double> sum = expected_;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += before_[i];
    }
    text += difference(compute(true, m_, n_), sum, tolerance);
    text += intact_ ? "" : "wrote beside the result";
    return text;
  }

 private:
  static bool is_guard(T value) { return value == static_cast<T>(guard_word); }
  static std::vector<double> transposed(std::int64_t rows, std::int64_t columns,
                                        const std::vector<double>& values) {
    return reference::transposed(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                                 values);
  }
  static std::vector<T> apart(const std::vector<T>& rows, std::int64_t width, std::int64_t gap) {
    std::vector<T> memory;
    for (auto row = rows.begin(); row != rows.end(); row += width) {
      memory.insert(memory.end(), row, row + width);
      memory.insert(memory.end(), static_cast<std::size_t>(gap), static_cast<T>(guard_word));
    }
    return memory;
  }
  std::vector<T> stored(const std::vector<double>& values) const {
    std::vector<T> memory(static_cast<std::size_t>(shift_), T(0));
    for (const double value : values) {
      memory.push_back(static_cast<T>(value));
    }
    return memory;
  }

  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  GemmForm form_;
  std::int64_t shift_;
  std::vector<T> a_;
  std::vector<T> b_;
  std::vector<double> before_;
  std::vector<double> expected_;
  bool intact_ = false;
};

constexpr GemmForm forms[] = {GemmForm::nn, GemmForm::tn, GemmForm::nt};

}  // namespace

TEMPLATE_TEST_CASE("A host GEMM of any number of rows equals the reference", "", float, double) {
  for (const GemmForm form : forms) {
    for (std::int64_t m = 1; m <= 40; ++m) {
      for (const std::int64_t n : {1, 70, 129}) {
        CAPTURE(static_cast<int>(form), m, n);
        CHECK(GemmCase<TestType>(form, m, n, 19).complaint() == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("A host GEMM has no edge that is computed wrong", "", float, double) {
  constexpr std::int64_t w = microkernel::width<TestType>;
  constexpr std::int64_t panel = microkernel::panel<TestType>;
  for (const GemmForm form : forms) {
    for (const std::int64_t n : {w - 1, w, w + 1, panel - 1, panel, panel + 1, 3 * panel + w / 2}) {
      for (const std::int64_t k : {std::int64_t{1}, w - 1, w, w + 1, 2 * w + 3, 5 * w}) {
        CAPTURE(static_cast<int>(form), n, k);
        CHECK(GemmCase<TestType>(form, 13, n, k).complaint() == "");
        CHECK(GemmCase<TestType>(form, n, 13, k).complaint() == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("A host GEMM larger than what is copied at a time equals the reference", "",
                   float, double) {
  for (const GemmForm form : forms) {
    CAPTURE(static_cast<int>(form));
    CHECK(GemmCase<TestType>(form, 9, 140, 1031).complaint() == "");
    CHECK(GemmCase<TestType>(form, 8, 4200, 37).complaint() == "");
    CHECK(GemmCase<TestType>(form, 131, 1050, 70).complaint() == "");
    CHECK(GemmCase<TestType>(form, 131, 300, 517).complaint() == "");
    CHECK(GemmCase<TestType>(form, 300, 70, 300).complaint() == "");
    CHECK(GemmCase<TestType>(form, 280, 200, 517).complaint() == "");
    CHECK(GemmCase<TestType>(form, 70, 64, 390).complaint() == "");
  }
}

TEMPLATE_TEST_CASE("A host GEMM of nothing is zero, and adds nothing", "", float, double) {
  for (const GemmForm form : forms) {
    CAPTURE(static_cast<int>(form));
    CHECK(GemmCase<TestType>(form, 7, 70, 0).complaint() == "");
    CHECK(GemmCase<TestType>(form, 0, 70, 5).complaint() == "");
    CHECK(GemmCase<TestType>(form, 7, 0, 5).complaint() == "");
  }
}

TEMPLATE_TEST_CASE("The bits of a host GEMM depend neither on tiles nor on alignment", "", float,
                   double) {
  for (const GemmForm form : forms) {
    for (const std::int64_t k : {33, 700}) {
      CAPTURE(static_cast<int>(form), k);
      const std::vector<TestType> whole =
          GemmCase<TestType>(form, 37, 300, k).compute(true, 37, 300);

      CHECK(GemmCase<TestType>(form, 37, 300, k).compute(true, 37, 64) == whole);
      CHECK(GemmCase<TestType>(form, 37, 300, k).compute(true, 24, 300) == whole);
      CHECK(GemmCase<TestType>(form, 37, 300, k).compute(true, 5, 7) == whole);
      CHECK(GemmCase<TestType>(form, 37, 300, k, 1).compute(true, 37, 300) == whole);
      CHECK(GemmCase<TestType>(form, 37, 300, k, 3).compute(true, 37, 300) == whole);

      const std::vector<TestType> tall =
          GemmCase<TestType>(form, 260, 140, k).compute(true, 260, 140);
      CHECK(GemmCase<TestType>(form, 260, 140, k).compute(true, 64, 140) == tall);
      CHECK(GemmCase<TestType>(form, 260, 140, k).compute(true, 5, 7) == tall);
      CHECK(GemmCase<TestType>(form, 260, 140, k, 1).compute(true, 260, 64) == tall);
    }
  }
}

TEMPLATE_TEST_CASE("Rows of a host GEMM may lie apart: the same bits, and nothing between them", "",
                   float, double) {
  for (const GemmForm form : forms) {
    for (const GemmTile& dimensions : {GemmTile{0, 0, 13, 70}, GemmTile{0, 0, 131, 200}}) {
      for (const std::int64_t k : {33, 300}) {
        CAPTURE(static_cast<int>(form), dimensions.rows, k);
        GemmCase<TestType> product(form, dimensions.rows, dimensions.columns, k);
        const std::vector<TestType> apart = product.compute_apart();

        CHECK(product.intact());
        CHECK(apart == product.compute(true, dimensions.rows, dimensions.columns));
      }
    }
  }
}

TEST_CASE("The tiles of a host GEMM cover it, one for one thread") {
  for (const GemmForm form : forms) {
    for (const std::int64_t threads : {1, 2, 7, 64}) {
      const HostGemm<float> product{form, 45, 1030, 20, nullptr, nullptr, nullptr};
      const GemmTiling tiling = product.tiling(threads);
      std::int64_t area = 0;
      for (std::int64_t i = 0; i < tiling.count(); ++i) {
        area += tiling[i].rows * tiling[i].columns;
      }

      CHECK(area == 45 * 1030);
      CHECK((form == GemmForm::nn || threads > 1 || tiling.count() == 1));
    }
  }
}

}  // namespace zygos::ops::test_host_gemm
