// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"
#include "train/roof_meter.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstddef>

namespace {

using namespace zygos;

lane::LaneSet lanes_with(std::size_t budget_bytes) {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = budget_bytes;
  return lane::LaneSet(specs);
}

}  // namespace

TEST_CASE("A roof is measured within the lane's budget and given back", "[train][roof_meter]") {
  lane::LaneSet lanes = lanes_with(std::size_t{64} << 20);  // three vectors of 16 MiB at the most
  train::RoofMeter meter(lanes[1], DType::f32);

  CHECK(meter.roof().flops_per_s == 0.0);
  meter.sample(0.01);

  CHECK(meter.roof().flops_per_s > 1e8);
  CHECK(meter.roof().bytes_per_s > 1e8);
  CHECK(lanes[1].bytes_allocated() == 0);
}

TEST_CASE("A lane without room for a product says so", "[train][roof_meter]") {
  lane::LaneSet lanes = lanes_with(1000);
  train::RoofMeter meter(lanes[1], DType::f32);

  CHECK_THROWS_AS(meter.sample(0.01), MemoryError);
  CHECK(lanes[1].bytes_allocated() == 0);
}
