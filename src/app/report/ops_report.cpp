// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/ops_report.hpp"

#include "app/plan/profile_cache.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zygos::app {

namespace {

constexpr double seconds_per_lane = 1.0;

std::string text_of_rate_in(double giga) { return fmt::format("{:.3g}", giga * 1e-9); }

std::string table_text(const LaneOps& lane, const std::vector<plan::OpTime>& ops,
                       const std::string& head) {
  Table table({{head, Table::Align::left},
               {"pass", Table::Align::left},
               {"time", Table::Align::right},
               {"of step", Table::Align::right},
               {"GFLOP/s", Table::Align::right},
               {"GB/s", Table::Align::right},
               {"of peak", Table::Align::right}});
  for (const plan::OpTime& op : ops) {
    table.add({op.name, std::string(plan::name_of(op.pass)), text_of_seconds(op.seconds),
               text_of_percent(op.seconds / lane.times.step_s), text_of_rate_in(op.flops_per_s()),
               text_of_rate_in(op.bytes_per_s()),
               text_of_percent(plan::share_of_peak(lane.times.peak, op))});
  }
  return table.text();
}

/// All work of the step in the time of the step.
plan::OpTime whole_step(const LaneOps& lane) {
  plan::OpTime step = plan::sum_of(lane.times.ops);
  step.seconds = lane.times.step_s;
  return step;
}

double outside_s(const LaneOps& lane) {
  return lane.times.step_s - plan::sum_of(lane.times.ops).seconds;
}

nlohmann::json row_of(const LaneOps& lane, const plan::OpTime& op) {
  return {{"lane", lane.lane},
          {"name", op.name},
          {"type", op.type},
          {"pass", plan::name_of(op.pass)},
          {"median_s", op.seconds},
          {"flops", op.cost.flops},
          {"bytes", op.cost.bytes},
          {"gflops", op.flops_per_s() * 1e-9},
          {"gbytes_per_s", op.bytes_per_s() * 1e-9},
          {"of_peak", plan::share_of_peak(lane.times.peak, op)}};
}

}  // namespace

std::vector<LaneOps> measure_lane_ops(RunSetup& setup, const schedule::Schedule& schedule,
                                      const LogSink& log) {
  std::vector<LaneOps> lanes;
  for (const schedule::Place place : schedule.active_places()) {
    if (auto times = measure::measure_ops(profile_request(setup, log), place, seconds_per_lane)) {
      const lane::Lane& lane = (*setup.lanes)[static_cast<std::size_t>(place)];
      lanes.push_back({lane.name(), std::move(*times)});
    }
  }
  return lanes;
}

std::string ops_text(const LaneOps& lane) {
  const plan::OpTime step = whole_step(lane);
  return fmt::format(
      "\n{}: peak rates {:.3g} GFLOP/s (large matrix product) and {:.3g} GB/s (sum of vectors in "
      "memory)\n\n"
      "{}\n\n{}\n\n"
      "{}: a step of {} at {:.3g} GFLOP/s, {} of the peak rate; {} of it is overhead outside "
      "kernels",
      lane.lane, lane.times.peak.flops_per_s * 1e-9, lane.times.peak.bytes_per_s * 1e-9,
      table_text(lane, lane.times.ops, "layer"),
      table_text(lane, plan::by_type(lane.times.ops), "all of a type"), lane.lane,
      text_of_seconds(step.seconds), step.flops_per_s() * 1e-9,
      text_of_percent(step.flops_per_s() / lane.times.peak.flops_per_s),
      text_of_percent(outside_s(lane) / step.seconds));
}

nlohmann::json ops_json(const std::vector<LaneOps>& lanes) {
  nlohmann::json rows = nlohmann::json::array();
  nlohmann::json peaks = nlohmann::json::array();
  for (const LaneOps& lane : lanes) {
    for (const plan::OpTime& op : lane.times.ops) {
      rows.push_back(row_of(lane, op));
    }
    const plan::OpTime step = whole_step(lane);
    peaks.push_back({{"lane", lane.lane},
                     {"gemm_gflops", lane.times.peak.flops_per_s * 1e-9},
                     {"gbytes_per_s", lane.times.peak.bytes_per_s * 1e-9},
                     {"step_s", step.seconds},
                     {"step_of_gemm", step.flops_per_s() / lane.times.peak.flops_per_s},
                     {"outside_s", outside_s(lane)}});
  }
  return {{"ops", rows}, {"peaks", peaks}};
}

}  // namespace zygos::app
