// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Passes whose random numbers are of the step that memory holds, against those by value.
#include "support/gradient_check.hpp"

#include "zygos/nn/layers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace zygos::nn::test_step_on_lane {
namespace {

using testing::LayerRun;
using testing::values_of;

std::vector<std::vector<double>> bits_of(const LayerRun& run) {
  run.forward();
  run.backward();
  return {values_of(run.output), values_of(run.d_inputs[0])};
}

void check_step_on_lane(const LayerPtr& layer, const std::vector<Shape>& shapes) {
  CAPTURE(layer->type());
  LayerRun by_value(layer, shapes, 5, 1, Kokkos::OpenMP(3));
  LayerRun from_memory(layer, shapes, 5, 1, Kokkos::OpenMP(3));
  std::uint64_t memory = 0;
  from_memory.step_on_lane = &memory;
  std::vector<std::vector<double>> last;
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{6}, std::uint64_t{1} << 40U}) {
    by_value.step = step;
    memory = step;

    const auto found = bits_of(from_memory);

    CAPTURE(step);
    CHECK(found == bits_of(by_value));
    CHECK(found != last);
    last = found;
  }
}

}  // namespace

TEST_CASE("Layers draw the random numbers of the step that the lane's memory holds") {
  check_step_on_lane(dropout(0.3), {Shape{31, 37}});
  check_step_on_lane(add({.dropout = 0.3}), {Shape{31, 37}, Shape{31, 37}});
  const Shape sequence{70, 3 * 2 * 5};
  check_step_on_lane(causal_attention({.heads = 2, .dropout = 0.3}), {sequence});
  check_step_on_lane(attention({.heads = 2, .dropout = 0.3}), {sequence});
}

}  // namespace zygos::nn::test_step_on_lane
