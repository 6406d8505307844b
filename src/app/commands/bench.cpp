// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/run_plan.hpp"
#include "app/report/blas_yardstick.hpp"
#include "app/report/ops_report.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"
#include "app/text.hpp"
#include "core/median.hpp"

#include "zygos/io/batching.hpp"
#include "zygos/io/sample_source.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace zygos::app {

namespace {

/// Steps take them by turns: what a data set holds beyond them is neither read nor timed.
constexpr std::int64_t batches = 8;

std::int64_t steps_of(const Invocation& invocation) { return invocation.steps.value_or(100); }

/// Wall seconds of consecutive steps over the data set in its own order.
class StepTimer {
 public:
  StepTimer(const RunSetup& setup, train::Engine& engine, bool forward)
      : engine_(engine),
        rows_(io::rows_of(setup.training)),
        batch_(static_cast<std::size_t>(setup.trainer.batch)),
        ids_(io::first_ids(setup.training.size())),
        forward_(forward) {
    behind_ = {rows_.inputs, rows_.targets, next_ids()};
  }

  std::vector<double> time(std::int64_t steps) {
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      const train::Batch batch = std::exchange(behind_, {rows_.inputs, rows_.targets, next_ids()});
      const auto report =
          forward_ ? engine_.evaluate(batch) : engine_.step(batch, ++step_, &behind_);
      seconds.push_back(report.seconds);
    }
    return seconds;
  }

 private:
  std::span<const std::uint32_t> next_ids() {
    if (cursor_ + batch_ > ids_.size()) {
      cursor_ = 0;
    }
    const auto part = std::span<const std::uint32_t>(ids_).subspan(cursor_, batch_);
    cursor_ += batch_;
    return part;
  }

  train::Engine& engine_;
  io::DatasetRows rows_;
  std::size_t batch_;
  std::vector<std::uint32_t> ids_;
  bool forward_;
  train::Batch behind_;  ///< of the next step
  std::size_t cursor_ = 0;
  std::uint64_t step_ = 0;
};

nlohmann::json lanes_json(const RunSetup& setup, const schedule::Schedule& schedule) {
  nlohmann::json lanes = nlohmann::json::array();
  const auto samples = schedule.lane_sample_counts();
  for (std::size_t place = 0; place < setup.lanes->size(); ++place) {
    const lane::LaneSpec& spec = (*setup.lanes)[place].spec();
    lanes.push_back({{"name", spec.name},
                     {"kind", lane::name_of(spec.kind)},
                     {"threads", spec.threads},
                     {"samples", samples[place]}});
  }
  return lanes;
}

int host_threads(const RunSetup& setup) {
  for (std::size_t place = 0; place < setup.lanes->size(); ++place) {
    const lane::LaneSpec& spec = (*setup.lanes)[place].spec();
    if (spec.kind == lane::Kind::host) {
      return spec.threads;
    }
  }
  return 0;
}

struct Timing {
  std::vector<double> seconds;  ///< of each step, in their order
  double median_s = 0.0;
  double minimum_s = 0.0;
  double samples_per_s = 0.0;
  double gflops = 0.0;
};

Timing timing_of(const std::vector<double>& seconds, const RunSetup& setup, bool forward) {
  const std::int64_t batch = setup.trainer.batch;
  const nn::Cost cost = forward ? setup.graph->forward_cost(batch, setup.dtype)
                                : setup.graph->training_cost(batch, setup.dtype);
  Timing timing;
  timing.seconds = seconds;
  timing.median_s = median(seconds);
  timing.minimum_s = *std::min_element(seconds.begin(), seconds.end());
  timing.samples_per_s = static_cast<double>(batch) / timing.median_s;
  timing.gflops = cost.flops / timing.median_s * 1e-9;
  return timing;
}

std::string timing_text(const Timing& timing, const Invocation& invocation) {
  return fmt::format("{} {}: median {}, least {}, {} samples/s, {:.3g} GFLOP/s",
                     text_of_count(steps_of(invocation)),
                     invocation.forward ? "forward passes" : "training steps",
                     text_of_seconds(timing.median_s), text_of_seconds(timing.minimum_s),
                     text_of_rate(timing.samples_per_s), timing.gflops);
}

nlohmann::json timing_json(const Timing& timing, const Invocation& invocation,
                           const RunSetup& setup, const schedule::Schedule& schedule) {
  return {{"deck", setup.name},
          {"median_step_s", timing.median_s},
          {"min_step_s", timing.minimum_s},
          {"steps", steps_of(invocation)},
          {"step_seconds", timing.seconds},
          {"batch", setup.trainer.batch},
          {"samples_per_s", timing.samples_per_s},
          {"threads", host_threads(setup)},
          {"lanes", lanes_json(setup, schedule)},
          {"policy", schedule.policy},
          {"forward", invocation.forward},
          {"gflops", timing.gflops},
          {"parameters", setup.graph->parameter_count()}};
}

/// Wall seconds of the steps asked for.
std::vector<double> step_seconds(const RunSetup& setup, const schedule::Schedule& schedule,
                                 const Invocation& invocation) {
  train::EngineOptions options = setup.engine_options();
  options.trace_capacity = 0;
  options.time_every_task = false;
  train::Engine engine(*setup.graph, *setup.optimizer, *setup.lanes,
                       invocation.forward ? schedule.for_evaluation() : schedule, setup.target,
                       options);
  engine.initialise();
  StepTimer timer(setup, engine, invocation.forward);
  timer.time(invocation.warmup);
  return timer.time(steps_of(invocation));
}

}  // namespace

ExitCode run_bench(const Invocation& invocation, Console& console) {
  BuildOptions build = build_options(invocation);
  build.max_batches = batches;
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build);
  freeze_as_loaded(deck, setup);
  say_setup(setup, console);
  if (setup.training.source != nullptr) {
    // Steps are timed, and no disk.
    const auto count = std::min(batches * setup.trainer.batch, setup.training.size());
    setup.training = io::samples_in_memory(setup.training, 0, count);
  }
  const schedule::Schedule schedule = plan_schedule(setup, console).schedule;
  const Timing timing =
      timing_of(step_seconds(setup, schedule, invocation), setup, invocation.forward);
  console.say(timing_text(timing, invocation) + "; " + placement_text(*setup.graph, schedule));
  nlohmann::json result = timing_json(timing, invocation, setup, schedule);
  if (invocation.ops) {
    const auto lanes = measure_lane_ops(setup, schedule, console.sink());
    for (const LaneOps& lane : lanes) {
      console.say(ops_text(lane));
    }
    result.update(ops_json(lanes));
    if (const auto blas = measure_blas(host_threads(setup))) {
      console.say(fmt::format("{}: {:.3g} GFLOP/s of a large product with {} threads",
                              blas->library, blas->flops_per_s * 1e-9, host_threads(setup)));
      result["blas"] = {{"library", blas->library}, {"gemm_gflops", blas->flops_per_s * 1e-9}};
    }
  }
  if (console.wants_json()) {
    console.json(result);
  }
  return ExitCode::done;
}

}  // namespace zygos::app
