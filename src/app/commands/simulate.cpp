// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the deck would take on machines we do not have: one lane, measured here, many times.
#include "app/commands/commands.hpp"
#include "app/plan/link_option.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/plan/cluster.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace zygos::app {

namespace {

constexpr std::int64_t bucket_bytes = 25'000'000;
constexpr std::int64_t micro_batches_per_stage = 4;
/// Their messages grow with the square of the workers.
constexpr std::int64_t max_cut_workers = 64;

struct Row {
  std::string policy;
  std::int64_t batch = 0;
  plan::Simulation simulation;
  std::size_t peak_bytes = 0;  ///< of the worker that needs most
  double speedup = 1.0;        ///< in samples per second, against one worker
};

class Cluster {
 public:
  Cluster(const RunSetup& setup, const plan::Profile& profile, schedule::Place place,
          const plan::Cluster& cluster)
      : setup_(setup),
        profile_(profile),
        place_(place),
        cluster_(cluster),
        problem_(setup.problem()) {
    problem_.accumulate = 0;  // each policy is simulated with micro-batches for so many workers
  }

  std::vector<Row> rows() {
    add_data_parallel("single", 1, problem_.batch);
    if (cluster_.workers > 1) {
      add_data_parallel("data_parallel", cluster_.workers, problem_.batch);
      add_data_parallel("data_parallel, weak scaling", cluster_.workers,
                        problem_.batch * cluster_.workers);
      const std::int64_t micro_batches =
          std::min(problem_.batch, micro_batches_per_stage * cluster_.workers);
      add_pipeline(
          fmt::format("gpipe({} micro-batches)", micro_batches),
          *policies::gpipe({.micro_batches = micro_batches, .recompute = {}, .stages = {}}),
          cluster_.workers);
      add_pipeline(fmt::format("one_f_one_b({} micro-batches)", micro_batches),
                   *policies::one_f_one_b(
                       {.micro_batches = micro_batches, .recompute = false, .stages = {}}),
                   cluster_.workers);
      add_coarse_pipeline(micro_batches);
      add_cut_layers("tensor_parallel", *policies::tensor_parallel({.shares = {}, .lanes = {}}));
      add_cut_layers("hybrid_conv_fc", *policies::hybrid_conv_fc({}));
    }
    return std::move(rows_);
  }

  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void add(Row row) {
    const auto rate = [](const Row& one) {
      return static_cast<double>(one.batch) / one.simulation.makespan_s;
    };
    row.speedup = rows_.empty() ? 1.0 : rate(row) / rate(rows_.front());
    rows_.push_back(std::move(row));
  }

  std::size_t peak_bytes(const schedule::Schedule& schedule) const {
    std::size_t most = 0;
    for (const plan::PlaceMemory& place : place_memory_of(schedule, plan_subject(setup_))) {
      most = std::max(most, place.lane.total() + place.staging.total());
    }
    return most;
  }

  void add_data_parallel(const std::string& name, std::int64_t workers, std::int64_t batch) {
    const plan::Cluster cluster{workers, cluster_.link};
    plan::Problem problem = plan::replicated(problem_, place_, cluster);
    problem.batch = batch;
    if (batch < workers) {
      left_out_.push_back(fmt::format("{}: {} samples for {} workers", name, batch, workers));
      return;
    }
    const std::int64_t gradient = problem.model.parameters_of(problem.model.all_nodes()).count() *
                                  problem.model.element_bytes;
    const std::int64_t buckets = (gradient + bucket_bytes - 1) / bucket_bytes;
    Row row{name, batch, {}, 0, 1.0};
    row.simulation = plan::simulate_cluster(
        plan::collective_data_parallel(problem, std::max<std::int64_t>(1, buckets)),
        plan::worker_profile(profile_, place_, cluster));
    plan::Problem one = plan::replicated(problem_, place_, {1, cluster_.link});
    one.batch = (batch + workers - 1) / workers;
    // A worker sums into memory of its own.
    row.peak_bytes = peak_bytes(policies::single({})->schedule(one, nullptr)) +
                     (workers > 1 ? static_cast<std::size_t>(gradient) : 0);
    add(std::move(row));
  }

  /// One worker with the whole model beside a pipeline of all others, both as long at work.
  void add_coarse_pipeline(std::int64_t micro_batches) {
    const std::int64_t stages = cluster_.workers - 1;
    if (stages < 2) {
      return;
    }
    policies::SplitPipelineOptions pipeline{.stages = {}, .micro_batches = micro_batches};
    const plan::Problem problem = plan::replicated(problem_, place_, cluster_);
    for (std::size_t worker = 1; worker < problem.places.size(); ++worker) {
      pipeline.stages.lanes.push_back(problem.places[worker].name);
    }
    const double faster = static_cast<double>(stages * micro_batches) /
                          static_cast<double>(micro_batches + stages - 1);
    add_pipeline(
        fmt::format("coarse_split(1 beside {} stages, {} micro-batches)", stages, micro_batches),
        *policies::coarse_split(
            {.share = 1.0 / (1.0 + faster), .samples = {}, .pipeline = std::move(pipeline)}),
        stages);
  }

  void add_pipeline(const std::string& name, const train::Policy& policy, std::int64_t stages) {
    const auto layers = static_cast<std::int64_t>(problem_.model.nodes.size());
    if (layers < stages) {
      left_out_.push_back(fmt::format("{}: {} layers make no {} stages", name, layers, stages));
      return;
    }
    add_policy(name, policy);
  }

  /// Each of these needs layers that can be cut between so many workers.
  void add_cut_layers(const std::string& name, const train::Policy& policy) {
    if (cluster_.workers > max_cut_workers) {
      left_out_.push_back(fmt::format("{}: simulated for up to {} workers", name, max_cut_workers));
      return;
    }
    try {
      add_policy(name, policy);
    } catch (const UsageError& refusal) {
      left_out_.push_back(fmt::format("{}: {}", name, refusal.what()));
    }
  }

  void add_policy(const std::string& name, const train::Policy& policy) {
    const plan::Problem problem = plan::replicated(problem_, place_, cluster_);
    const plan::Profile profile = plan::replicated(profile_, place_, cluster_);
    const schedule::Schedule schedule = policy.schedule(problem, &profile);
    add({name, problem.batch, plan::simulate_cluster(schedule, profile), peak_bytes(schedule),
         1.0});
  }

  const RunSetup& setup_;
  const plan::Profile& profile_;
  schedule::Place place_;
  plan::Cluster cluster_;
  plan::Problem problem_;
  std::vector<Row> rows_;
  std::vector<std::string> left_out_;
};

nlohmann::json json_of(const Row& row) {
  return {{"policy", row.policy},
          {"batch", row.batch},
          {"step_s", {{"predicted", row.simulation.makespan_s}}},
          {"speedup", {{"predicted", row.speedup}}},
          {"idle", {{"predicted", row.simulation.idle_share()}}},
          {"bytes", row.simulation.bytes},
          {"messages", row.simulation.messages},
          {"peak_bytes", row.peak_bytes}};
}

std::string table_of(const std::vector<Row>& rows) {
  using Align = Table::Align;
  Table table({{"policy"},
               {"batch", Align::right},
               {"step", Align::right},
               {"speed-up", Align::right},
               {"idle", Align::right},
               {"moved", Align::right},
               {"messages", Align::right},
               {"memory each", Align::right}});
  for (const Row& row : rows) {
    table.add({row.policy, text_of_count(row.batch), text_of_seconds(row.simulation.makespan_s),
               text_of_speedup(row.speedup),
               fmt::format("{:.0f} %", 100.0 * row.simulation.idle_share()),
               memory::text_of_bytes(static_cast<std::size_t>(row.simulation.bytes)),
               text_of_count(row.simulation.messages), memory::text_of_bytes(row.peak_bytes)});
  }
  return table.text();
}

/// The place with the highest rate; the first if none could be measured alone.
schedule::Place fastest_place(const plan::Profile& profile, std::int64_t batch) {
  const auto rates = plan::sample_rates(profile, batch);
  return static_cast<schedule::Place>(std::ranges::max_element(rates) - rates.begin());
}

}  // namespace

ExitCode run_simulate(const Invocation& invocation, Console& console) {
  const std::optional<lane::Link> link = link_from(invocation.link);
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  freeze_as_loaded(deck, setup);
  say_setup(setup, console);
  console.note("");
  const plan::Profile profile = profile_of(setup, invocation.fresh_profile, console);
  const schedule::Place place = fastest_place(profile, setup.trainer.batch);
  const std::string& lane = (*setup.lanes)[static_cast<std::size_t>(place)].name();
  Cluster cluster(setup, profile, place, {invocation.workers, link});
  const std::vector<Row> rows = cluster.rows();
  console.say(
      fmt::format("Prediction, nothing of it was run: one step on {} workers like lane '{}', "
                  "simulated with the costs just measured here:",
                  text_of_count(invocation.workers), lane));
  console.say("");
  console.say(table_of(rows));
  for (const std::string& why : cluster.left_out()) {
    console.say("left out " + why);
  }
  const auto best = std::ranges::max_element(rows, {}, &Row::speedup);
  const std::string reason = fmt::format(
      "predicted to train {:.3g} times as many samples a second as one worker", best->speedup);
  console.say("");
  say_recommended(console, best->policy);
  if (console.wants_json()) {
    nlohmann::json list = nlohmann::json::array();
    for (const Row& row : rows) {
      list.push_back(json_of(row));
    }
    console.json({{"prediction", true},
                  {"workers", invocation.workers},
                  {"lane", lane},
                  {"rows", std::move(list)},
                  {"left_out", cluster.left_out()},
                  {"recommended", best->policy},
                  {"reason", reason}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
