// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/host_blocks.hpp"
#include "support/ops_readme.hpp"

#include "zygos/core/bf16.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace zygos::ops::attention::test_attention_blocks {

TEST_CASE("Attention has short blocks for sequences that fit into one") {
  CHECK(host_block<float>(1) == short_block);
  CHECK(host_block<double>(32) == short_block);
  CHECK(host_block<bf16>(32) == short_block);
  CHECK(host_block<float>(33) == small_block);
}

TEST_CASE("Attention has large blocks for long sequences of floats where there is AMX") {
  CHECK(host_block<float>(511) == small_block);
  CHECK(host_block<float>(512) == (has_bf16x3_gemm() ? large_block : small_block));
  CHECK(host_block<double>(4096) == small_block);
  CHECK(host_block<bf16>(4096) == small_block);
}

TEST_CASE("src/ops/README.md has a row for every block of attention") {
  const std::string text = testing::ops_readme();
  for (const BlockRule& rule : block_rules) {
    CAPTURE(rule.name);
    CHECK(text.find("| `" + std::string(rule.name) + "` |") != std::string::npos);
  }
}

}  // namespace zygos::ops::attention::test_attention_blocks
