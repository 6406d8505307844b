// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "request_for.hpp"

#include "zygos/measure/op_times.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace zygos::test_op_times {
namespace {

/// Room for the product of the peak (96 MiB of doubles), and for sums that take no time.
std::vector<lane::LaneSpec> small_lanes() {
  auto specs = test::host_and_device();
  for (lane::LaneSpec& spec : specs) {
    spec.budget_bytes = std::size_t{100} << 20;
  }
  return specs;
}

}  // namespace

TEST_CASE("Every layer is timed in both directions, beside loss and update",
          "[measure][op_times]") {
  test::SmallRun run(small_lanes());

  for (const schedule::Place place : {0, 1}) {
    const auto times = measure::measure_ops(test::request_for(run), place, 0.005);

    REQUIRE(times.has_value());
    std::vector<std::string> names;
    double sum_s = 0.0;
    for (const plan::OpTime& op : times->ops) {
      names.push_back(std::string(plan::name_of(op.pass)) + " " + op.name);
      CHECK(op.seconds > 0.0);
      CHECK(op.cost.bytes > 0.0);
      sum_s += op.seconds;
    }
    CHECK(names == std::vector<std::string>{"forward fc1", "forward drop", "forward fc2",
                                            "loss cross_entropy", "backward fc2", "backward drop",
                                            "backward fc1", "update adam"});
    CHECK(times->step_s > 0.5 * sum_s);
    CHECK(times->peak.flops_per_s > 1e8);
    CHECK(times->peak.bytes_per_s > 1e8);
    // The work is that of the whole step: 40 samples, first layer without an input's gradient.
    const plan::OpTime all = plan::sum_of(times->ops);
    const double update =
        run.optimizer->cost(run.graph.parameter_elements(), run.options.dtype).flops;
    CHECK(all.cost.flops == run.graph.training_cost(40, run.options.dtype).flops + update);
    CHECK(times->ops.back().cost.flops == update);
  }
}

TEST_CASE("A lane that can't hold the batch has no times of ops", "[measure][op_times]") {
  auto specs = small_lanes();
  specs[1].budget_bytes = 20000;
  test::SmallRun run(specs);

  CHECK_FALSE(measure::measure_ops(test::request_for(run), 1, 0.005).has_value());
  CHECK(measure::measure_ops(test::request_for(run), 0, 0.005).has_value());
}

}  // namespace zygos::test_op_times
