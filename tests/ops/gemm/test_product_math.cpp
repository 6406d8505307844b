// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The mode of a library's handle around a product, with a fake of the library.
#include "ops/gemm/device/product_math.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace zygos::ops::test_product_math {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int usual = 5;  ///< what somebody else has set
constexpr int rounded = 3;

/// A handle: its mode, and what to answer.
struct FakeLibrary {
  int mode = usual;
  int get_status = 0;
  int set_status = 0;
  int sets_before_refusal = 0;  ///< that succeed before set_status is returned
  int sets = 0;
  int gets = 0;

  ProductMath table() {
    return {this, rounded,
            [](void* handle, int* found) {
              auto& self = *static_cast<FakeLibrary*>(handle);
              ++self.gets;
              *found = self.mode;
              return self.get_status;
            },
            [](void* handle, int wanted) {
              auto& self = *static_cast<FakeLibrary*>(handle);
              if (self.sets++ >= self.sets_before_refusal && self.set_status != 0) {
                return self.set_status;
              }
              self.mode = wanted;
              return 0;
            },
            [](int status) { return "status " + std::to_string(status); }};
  }
};

}  // namespace

TEST_CASE("a product in full leaves the library's handle alone") {
  FakeLibrary library;
  std::vector<int> modes;

  multiply_as(Products::full, library.table(), [&] { modes.push_back(library.mode); });

  CHECK(modes == std::vector<int>{usual});
  CHECK(library.gets == 0);
  CHECK(library.sets == 0);
}

TEST_CASE("a product as tf32 has the library's mode, and the one before comes back") {
  FakeLibrary library;
  std::vector<int> modes;

  multiply_as(Products::tf32, library.table(), [&] { modes.push_back(library.mode); });

  CHECK(modes == std::vector<int>{rounded});
  CHECK(library.mode == usual);
}

TEST_CASE("a library without a mode multiplies as ever") {
  int products = 0;

  multiply_as(Products::tf32, ProductMath{}, [&] { ++products; });

  CHECK(products == 1);
}

TEST_CASE("the mode comes back where a product throws") {
  FakeLibrary library;

  CHECK_THROWS_AS(multiply_as(Products::tf32, library.table(),
                              [] { throw std::runtime_error("no such kernel"); }),
                  std::runtime_error);

  CHECK(library.mode == usual);
}

TEST_CASE("a library that refuses a mode is an error, and nothing is multiplied") {
  int products = 0;
  FakeLibrary silent;
  silent.get_status = 7;
  FakeLibrary unwilling;
  unwilling.set_status = 8;

  CHECK_THROWS_WITH(multiply_as(Products::tf32, silent.table(), [&] { ++products; }),
                    ContainsSubstring("cublasGetMathMode: status 7"));
  CHECK_THROWS_WITH(multiply_as(Products::tf32, unwilling.table(), [&] { ++products; }),
                    ContainsSubstring("cublasSetMathMode: status 8"));

  CHECK(products == 0);
}

TEST_CASE("a mode that does not come back is an error") {
  FakeLibrary library;
  library.set_status = 9;
  library.sets_before_refusal = 1;

  CHECK_THROWS_WITH(multiply_as(Products::tf32, library.table(), [] {}),
                    ContainsSubstring("cublasSetMathMode: status 9"));
}

}  // namespace zygos::ops::test_product_math
