// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Row-major products over a fake of cuBLASLt, which knows column-major ones only.
#include "ops/gemm/device/cublas_lt_gemm.hpp"
#include "ops/gemm/fake_cublas_lt.hpp"
#include "ops/gemm/lt_data.hpp"
#include "ops/gemm/lt_library.hpp"

#include "zygos/core/bf16.hpp"
#include "zygos/core/error.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zygos::ops::test_cublas_lt_gemm {
namespace {

using testing::before;
using testing::FakeCublasLt;
using testing::lt_algorithm;
using testing::lt_device;
using testing::LtLibrary;
template <class T, class Result = T>
using Data = testing::LtData<T, Result>;

constexpr LtForm forms[] = {LtForm::plain, LtForm::first_transposed, LtForm::second_transposed};

}  // namespace

TEMPLATE_TEST_CASE("Row-major products are found by column-major ones", "",
                   (std::pair<float, float>), (std::pair<double, double>), (std::pair<bf16, bf16>),
                   (std::pair<bf16, float>)) {
  using Types = Data<typename TestType::first_type, typename TestType::second_type>;
  const std::vector<std::vector<std::size_t>> shapes{
      {1, 1, 1}, {1, 7, 5}, {7, 1, 33}, {6, 5, 1}, {13, 9, 11}, {4, 8, 16}, {33, 35, 37}};
  LtLibrary library;
  for (const auto& shape : shapes) {
    Types data(shape[0], shape[1], shape[2]);
    for (const LtForm form : forms) {
      for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
        LtGemm gemm = data.product(form);
        gemm.relu = (kind & 1) != 0;
        gemm.bias = (kind & 2) != 0 ? data.stored_bias.data() : nullptr;
        gemm.added = (kind & 4) != 0;

        const LtOutcome outcome = library.gemm.multiply(gemm, nullptr);

        CAPTURE(shape, static_cast<int>(form), kind);
        CHECK(outcome == LtOutcome::done);
        CHECK(data.c == data.expected(gemm));
      }
    }
  }
}

TEST_CASE("The library gets the transposes of what lies in memory") {
  Data<float> data(9, 12, 5);

  const LtProduct plain = column_major(data.product(LtForm::plain));
  const LtProduct first = column_major(data.product(LtForm::first_transposed));
  const LtProduct second = column_major(data.product(LtForm::second_transposed));

  CHECK((plain.a.rows == 12 && plain.a.columns == 5 && plain.a.leading == 12));
  CHECK((plain.b.rows == 5 && plain.b.columns == 9 && plain.b.leading == 5));
  CHECK((plain.d.rows == 12 && plain.d.columns == 9 && plain.d.leading == 12));
  CHECK((!plain.a_transposed && !plain.b_transposed));
  CHECK((!first.a_transposed && first.b_transposed && first.b.rows == 9 && first.b.leading == 9));
  CHECK((second.a_transposed && !second.b_transposed && second.a.rows == 5));
}

TEST_CASE("A dimension beyond 32 bits reaches the library whole") {
  LtGemm gemm;
  const float value = 1.0F;
  gemm.a = gemm.b = &value;
  gemm.m = (std::uint64_t{1} << 32U) + 1;
  gemm.n = 2;
  gemm.k = 3;

  const LtProduct product = column_major(gemm);

  CHECK(product.b.columns == gemm.m);
  CHECK(product.d.columns == gemm.m);
  gemm.form = LtForm::first_transposed;
  CHECK(column_major(gemm).b.leading == 4294967297);
}

TEST_CASE("Sums of bf16 are floats with a bias of the result's type, rounded to even once") {
  LtLibrary library;
  const bf16 a[] = {bf16(16.0F), bf16(1.0F)};                           // (1, 2)
  const bf16 b[] = {bf16(16.0F), bf16(16.0F), bf16(1.0F), bf16(3.0F)};  // (2, 2)
  const bf16 bias[] = {bf16(1.0F), bf16(1.0F)};
  const float wide_bias[] = {0.5F, 0.5F};
  bf16 c[2] = {};
  float wide[2] = {};
  LtGemm gemm{.type = LtType::bf16, .result = LtType::bf16, .m = 1, .n = 2, .k = 2};
  gemm.a = a;
  gemm.b = b;
  gemm.c = c;
  library.gemm.multiply(gemm, nullptr);
  CHECK((float{c[0]} == 256.0F && float{c[1]} == 260.0F));  // 257 and 259 lie between two bf16
  gemm.bias = bias;
  library.gemm.multiply(gemm, nullptr);
  CHECK((float{c[0]} == 258.0F && float{c[1]} == 260.0F));
  gemm.added = true;
  library.gemm.multiply(gemm, nullptr);
  CHECK((float{c[0]} == 516.0F && float{c[1]} == 520.0F));

  gemm.result = LtType::f32;
  gemm.bias = wide_bias;
  gemm.c = wide;
  gemm.added = false;
  library.gemm.multiply(gemm, nullptr);
  CHECK((wide[0] == 257.5F && wide[1] == 259.5F));

  CHECK(library.fake.asked.back().type == LtType::bf16);
  CHECK(library.fake.asked.back().result == LtType::f32);
  gemm.tf32 = true;  // concerns floats
  library.gemm.multiply(gemm, nullptr);
  CHECK(library.fake.products.back().product.compute == LtCompute::f32);
}

TEST_CASE("TF32 is the arithmetic of a product that asks for it, and of no other") {
  LtLibrary library;
  Data<float> floats(9, 12, 5);
  Data<double> doubles(9, 12, 5);
  LtGemm full = floats.product(LtForm::plain);
  LtGemm rounded = full;
  rounded.tf32 = true;
  LtGemm wide = doubles.product(LtForm::plain);
  wide.tf32 = true;

  for (const LtGemm& gemm : {full, rounded, full, wide}) {
    library.gemm.multiply(gemm, nullptr);
  }

  std::vector<LtCompute> found;
  for (const LtCall& call : library.fake.products) {
    found.push_back(call.product.compute);
  }
  CHECK(found == std::vector<LtCompute>{LtCompute::f32, LtCompute::f32_fast_tf32, LtCompute::f32,
                                        LtCompute::f64});
}

TEST_CASE("A card without TF32 multiplies in full") {
  LtLibrary library;
  library.fake.has_tf32 = false;
  LtGemm gemm = library.data.product(LtForm::plain);
  gemm.tf32 = true;

  CHECK(library.gemm.multiply(gemm, nullptr) == LtOutcome::done);
  CHECK(library.gemm.multiply(gemm, nullptr) == LtOutcome::done);

  CHECK(library.fake.products.back().product.compute == LtCompute::f32);
  CHECK(library.fake.count("get_heuristic") == 2);
  CHECK(library.data.c == library.data.expected(gemm));
}

TEST_CASE("The heuristic is asked once for a product's description") {
  LtLibrary library;
  Data<float>& data = library.data;
  LtGemm gemm = data.product(LtForm::plain);
  const auto asked_after = [&](const LtGemm& product) {
    library.gemm.multiply(product, nullptr);
    library.gemm.multiply(product, nullptr);
    return library.fake.count("get_heuristic");
  };

  CHECK(asked_after(gemm) == 1);
  LtGemm other = gemm;
  other.added = true;  // beta is no part of a description
  CHECK(asked_after(other) == 1);
  other.bias = data.stored_bias.data();
  CHECK(asked_after(other) == 2);
  other.relu = true;
  CHECK(asked_after(other) == 3);
  other.tf32 = true;
  CHECK(asked_after(other) == 4);
  gemm.m = 8;
  CHECK(asked_after(gemm) == 5);
  CHECK(asked_after(data.product(LtForm::second_transposed)) == 6);
}

TEST_CASE("The first algorithm that can run within the workspace is taken") {
  LtLibrary library;
  library.fake.algorithms = {lt_algorithm(1, 0, lt_code::not_supported),
                             lt_algorithm(2, CublasLtGemm::workspace_bytes + 1),
                             lt_algorithm(3, 4096), lt_algorithm(4), lt_algorithm(5)};

  library.multiply(LtForm::first_transposed);
  library.multiply(LtForm::plain);
  library.multiply(LtForm::second_transposed);

  REQUIRE(library.fake.products.size() == 3);
  CHECK(library.fake.products[0].algorithm == lt_algorithm(3, 4096));
  CHECK(library.fake.products[1].algorithm == lt_algorithm(4));
  CHECK(library.fake.products[2].algorithm == lt_algorithm(4));
}

TEST_CASE("Only products of training may have sums of parts, and none in place") {
  LtLibrary library;

  for (const LtForm form : forms) {
    library.multiply(form);
  }

  const LtPreference sequence{0, lt_reduction::none};
  const LtPreference parts{CublasLtGemm::workspace_bytes, lt_reduction::compute_type};
  CHECK(library.fake.preferences == std::vector<LtPreference>{sequence, parts, sequence});
}

TEST_CASE("The library is told how operands lie, up to 16 bytes") {
  LtLibrary library;
  alignas(64) float memory[64] = {};
  LtGemm gemm;
  gemm.m = gemm.n = gemm.k = 2;
  gemm.a = memory + 1;
  gemm.b = memory + 2;
  gemm.bias = memory + 12;
  gemm.c = memory + 16;

  library.gemm.multiply(gemm, nullptr);

  const LtProduct& asked = library.fake.asked.front();
  CHECK(asked.a.alignment == 8);
  CHECK(asked.b.alignment == 4);
  CHECK(asked.bias_alignment == 16);
  CHECK(asked.d.alignment == 16);
  gemm.c = memory + 20;  // at 16 bytes, not at 64
  library.gemm.multiply(gemm, nullptr);
  CHECK(library.fake.count("get_heuristic") == 1);
}

TEST_CASE("A product without results or terms does not reach the library") {
  LtLibrary library;
  Data<float> no_rows(0, 4, 3);
  Data<float> no_columns(4, 0, 3);
  Data<float> no_terms(3, 2, 0);
  library.fake.calls.clear();

  for (const LtForm form : forms) {
    CHECK(library.gemm.multiply(no_rows.product(form), nullptr) == LtOutcome::done);
    CHECK(library.gemm.multiply(no_columns.product(form), nullptr) == LtOutcome::done);
    LtGemm gemm = no_terms.product(form);
    CHECK(library.gemm.multiply(gemm, nullptr) == LtOutcome::no_terms);
    gemm.added = true;
    CHECK(library.gemm.multiply(gemm, nullptr) == LtOutcome::done);
  }

  CHECK(library.fake.calls.empty());
  CHECK(no_terms.c == std::vector<float>(11, static_cast<float>(before)));
}

TEST_CASE("Without an algorithm a product is left to others") {
  LtLibrary none;
  none.fake.algorithms.clear();
  LtLibrary refused;
  refused.fake.returns["get_heuristic"] = lt_code::not_supported;

  for (LtLibrary* const library : {&none, &refused}) {
    CHECK(library->multiply() == LtOutcome::unavailable);
    CHECK(library->multiply() == LtOutcome::unavailable);
    CHECK(library->fake.count("get_heuristic") == 1);
    CHECK(library->fake.count("multiply") == 0);
    CHECK(library->data.c.front() == static_cast<float>(before));
  }
}

TEST_CASE("What fails in a product is named, with the library's text") {
  const std::vector<std::pair<std::string, std::string>> failures{
      {"set_device", "ops::gemm: cudaSetDevice: error 14"},
      {"get_heuristic", "ops::gemm: cublasLtMatmulAlgoGetHeuristic: status 14"},
      {"allocate", "ops::gemm: cudaMalloc: error 14"},
      {"multiply", "ops::gemm: cublasLtMatmul: status 14"}};
  for (const auto& [function, message] : failures) {
    LtLibrary library;
    library.fake.algorithms = {lt_algorithm(1, 4096)};
    library.fake.returns[function] = 14;

    CAPTURE(function);
    CHECK_THROWS_AS(library.multiply(), InternalError);
    CHECK_THROWS_WITH(library.multiply(), message);
  }
}

TEST_CASE("A handle that is not made is named") {
  const std::vector<std::pair<std::string, std::string>> failures{
      {"set_device", "ops::gemm: cudaSetDevice: error 3"},
      {"create", "ops::gemm: cublasLtCreate: status 3"}};
  for (const auto& [function, message] : failures) {
    FakeCublasLt fake;
    fake.returns[function] = 3;

    CAPTURE(function);
    CHECK_THROWS_WITH(CublasLtGemm(fake.table(), lt_device), message);
    CHECK(fake.handles == 0);
  }
}

}  // namespace zygos::ops::test_cublas_lt_gemm
