// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/problem.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <limits>

namespace zygos::plan::test_problem {
namespace {

std::int64_t unit_of(std::int64_t batch, std::int64_t chunk, std::int64_t together) {
  Problem problem;
  problem.batch = batch;
  problem.chunk = chunk;
  problem.model.samples_together = together;
  return problem.unit();
}

}  // namespace

TEST_CASE("A batch is divided between whole chunks of samples that layers see together") {
  CHECK(unit_of(96, 0, 1) == 1);
  CHECK(unit_of(96, 8, 1) == 8);
  CHECK(unit_of(96, 8, 12) == 24);
}

TEST_CASE("What is divided nowhere is the whole batch, however large a chunk or group is") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(unit_of(96, 0, 100) == 96);
  CHECK(unit_of(96, 0, largest) == 96);
  CHECK(unit_of(96, largest - 1, largest) == 96);
  CHECK(unit_of(0, 0, largest) == 1);
}

}  // namespace zygos::plan::test_problem
