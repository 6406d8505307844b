// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/host/algorithm.hpp"
#include "ops/gemm/host/bf16x3_gemm.hpp"
#include "support/ops_readme.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace zygos::ops::test_gemm_algorithm {
namespace {

const GemmRule& rule_of(GemmAlgorithm algorithm) {
  for (const GemmRule& rule : gemm_rules()) {
    if (rule.algorithm == algorithm) {
      return rule;
    }
  }
  FAIL("no rule");
  return gemm_rules().front();
}

}  // namespace

TEST_CASE("A GEMM of floats without AMX is computed by FMA, of any form and shape") {
  for (const GemmForm form : {GemmForm::nn, GemmForm::tn, GemmForm::nt}) {
    for (const std::int64_t extent : {0, 1, 15}) {
      CHECK(gemm_algorithm<float>({form, extent, extent, extent}) == GemmAlgorithm::fma);
      CHECK(gemm_algorithm<double>({form, extent, extent, extent}) == GemmAlgorithm::fma);
    }
    CHECK(gemm_algorithm<double>({form, 1024, 1024, 1024}) == GemmAlgorithm::fma);
    CHECK(gemm_algorithm<float>({form, 1024, 1024, 1024}) ==
          (has_bf16x3_gemm() ? GemmAlgorithm::bf16x3 : GemmAlgorithm::fma));
  }
}

TEST_CASE("Gradients of small layers' weights are computed by split-K") {
  CHECK(gemm_algorithm<float>({GemmForm::tn, 120, 10, 4096}) == GemmAlgorithm::split_k);
  CHECK(gemm_algorithm<double>({GemmForm::tn, 16, 256, 1024}) == GemmAlgorithm::split_k);

  // Too few rows, too many results, another form.
  CHECK(gemm_algorithm<double>({GemmForm::tn, 16, 16, 64}) == GemmAlgorithm::fma);
  CHECK(gemm_algorithm<double>({GemmForm::tn, 256, 256, 4096}) == GemmAlgorithm::fma);
  CHECK(gemm_algorithm<double>({GemmForm::nn, 120, 10, 4096}) == GemmAlgorithm::fma);
  CHECK(gemm_algorithm_of_part<double>({GemmForm::tn, 120, 10, 4096}) == GemmAlgorithm::fma);
}

TEST_CASE("A GEMM of bf16 takes the same microkernel whatever its shape") {
  const GemmAlgorithm first = gemm_algorithm<bf16>({GemmForm::nn, 1, 1, 1});

  CHECK(rule_of(first).types == "bf16");
  CHECK(gemm_algorithm<bf16>({GemmForm::tn, 120, 10, 4096}) == first);
  CHECK(gemm_algorithm<bf16>({GemmForm::nt, 1024, 1024, 1024}) == first);
}

TEST_CASE("The last rule of a type applies to every shape") {
  CHECK(gemm_rules().back().algorithm == GemmAlgorithm::fma);
  CHECK(rule_of(GemmAlgorithm::fma).applies({GemmForm::nn, 0, 0, 0}));
  CHECK(rule_of(GemmAlgorithm::bf16_widened).applies({GemmForm::nn, 0, 0, 0}));
}

TEST_CASE("src/ops/README.md has a row for every rule of the GEMM chooser") {
  const std::string text = testing::ops_readme();
  for (const GemmRule& rule : gemm_rules()) {
    CAPTURE(rule.name);
    CHECK(text.find("| `" + std::string(rule.name) + "` |") != std::string::npos);
  }
}

}  // namespace zygos::ops::test_gemm_algorithm
