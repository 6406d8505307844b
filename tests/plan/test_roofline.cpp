// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A lane of 100 operations and 10 bytes a second: what does 10 operations a byte meets both peaks.
#include "zygos/plan/roofline.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::plan::test_roofline {
namespace {

constexpr PeakRates peak{.flops_per_s = 100.0, .bytes_per_s = 10.0};

OpTime op_of(nn::Cost cost, double seconds) {
  return {"fc1", "dense", OpPass::forward, cost, seconds};
}

}  // namespace

TEST_CASE("Work takes at least what the slower of arithmetic and memory needs") {
  CHECK(min_seconds(peak, {200.0, 5.0}) == 2.0);
  CHECK(min_seconds(peak, {50.0, 30.0}) == 3.0);
  CHECK(min_seconds(peak, {100.0, 10.0}) == 1.0);
  CHECK(min_seconds(peak, {}) == 0.0);
}

TEST_CASE("The share of the peak is the least time over the time taken") {
  CHECK(share_of_peak(peak, op_of({200.0, 5.0}, 4.0)) == 0.5);
  CHECK(share_of_peak(peak, op_of({50.0, 30.0}, 3.0)) == 1.0);
  CHECK(share_of_peak(peak, op_of({0.0, 30.0}, 1.5)) == 2.0);  // from a cache
  CHECK(share_of_peak(peak, op_of({50.0, 30.0}, 0.0)) == 0.0);
}

TEST_CASE("An op's rates are its work over its time") {
  const OpTime op = op_of({200.0, 30.0}, 4.0);

  CHECK(op.flops_per_s() == 50.0);
  CHECK(op.bytes_per_s() == 7.5);
  CHECK(op_of({200.0, 30.0}, 0.0).flops_per_s() == 0.0);
}

TEST_CASE("Ops of one type and pass are summed in the order of the first") {
  const std::vector<OpTime> ops{{"fc1", "dense", OpPass::forward, {10.0, 1.0}, 0.5},
                                {"act", "gelu", OpPass::forward, {4.0, 2.0}, 0.25},
                                {"fc2", "dense", OpPass::forward, {30.0, 3.0}, 1.0},
                                {"fc2", "dense", OpPass::backward, {60.0, 6.0}, 2.0}};

  const auto groups = by_type(ops);

  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "dense (2)");
  CHECK(groups[0].cost.flops == 40.0);
  CHECK(groups[0].cost.bytes == 4.0);
  CHECK(groups[0].seconds == 1.5);
  CHECK(groups[1].name == "gelu (1)");
  CHECK(groups[2].pass == OpPass::backward);
  const OpTime sum = sum_of(ops);
  CHECK(sum.cost.flops == 104.0);
  CHECK(sum.cost.bytes == 12.0);
  CHECK(sum.seconds == 3.75);
}

}  // namespace zygos::plan::test_roofline
