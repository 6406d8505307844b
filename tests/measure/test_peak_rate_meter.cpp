// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/peak_rate_meter.hpp"
#include "train/small_run.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>

namespace zygos::test_peak_rate_meter {
namespace {

lane::LaneSet lanes_with(std::size_t budget_bytes) {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = budget_bytes;
  return lane::LaneSet(specs);
}

}  // namespace

TEST_CASE("A peak is measured within the lane's budget and given back",
          "[measure][peak_rate_meter]") {
  lane::LaneSet lanes = lanes_with(std::size_t{64} << 20);  // three vectors of 16 MiB at the most
  measure::PeakRateMeter meter(lanes[1], DType::f32);

  CHECK(meter.peak().flops_per_s == 0.0);
  meter.sample(0.01);

  CHECK(meter.peak().flops_per_s > 1e8);
  CHECK(meter.peak().bytes_per_s > 1e8);
  CHECK(lanes[1].bytes_allocated() == 0);
}

TEST_CASE("A peak of bf16 is that of products with bf16 activations",
          "[measure][peak_rate_meter]") {
  lane::LaneSet lanes = lanes_with(std::size_t{64} << 20);
  measure::PeakRateMeter meter(lanes[1], DType::bf16);

  meter.sample(0.01);

  CHECK(meter.peak().flops_per_s > 1e8);
  CHECK(meter.peak().bytes_per_s > 1e8);
}

TEST_CASE("A lane without room for a product says so", "[measure][peak_rate_meter]") {
  lane::LaneSet lanes = lanes_with(1000);
  measure::PeakRateMeter meter(lanes[1], DType::f32);

  CHECK_THROWS_AS(meter.sample(0.01), MemoryError);
  CHECK(lanes[1].bytes_allocated() == 0);
}

}  // namespace zygos::test_peak_rate_meter
