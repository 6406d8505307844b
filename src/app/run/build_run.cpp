// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/build_run.hpp"

#include "app/plan/activation_choice.hpp"
#include "app/plan/device_graphs.hpp"
#include "app/plan/link_precision.hpp"
#include "app/plan/run_plan.hpp"
#include "app/plan/tf32.hpp"
#include "app/run/data_identity.hpp"
#include "app/run/lane_choice.hpp"
#include "app/run/rank_lanes.hpp"
#include "app/trained/metrics.hpp"
#include "load/from_registry.hpp"

#include "zygos/io/batching.hpp"
#include "zygos/io/sample_source.hpp"
#include "zygos/load/augmentation.hpp"
#include "zygos/load/data.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/measure/profiler.hpp"
#include "zygos/nn/registry.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

lane::Kind kind_of(deck::LaneKind kind) {
  switch (kind) {
    case deck::LaneKind::host:
      return lane::Kind::host;
    case deck::LaneKind::device:
      return lane::Kind::device;
    case deck::LaneKind::emulated:
    case deck::LaneKind::automatic:
      break;
  }
  return lane::Kind::emulated;
}

LaneRequest request_of(const deck::LaneSpec& spec, const std::optional<int>& host_threads) {
  LaneRequest request;
  request.spec = {.name = spec.name,
                  .kind = kind_of(spec.kind),
                  .space = spec.serial ? lane::HostSpace::serial : lane::HostSpace::openmp,
                  .budget_bytes = spec.memory_bytes,
                  .link = {spec.link_bytes_per_second, spec.link_latency_s},
                  .unified = spec.unified,
                  .slowdown = spec.slowdown,
                  .device_id = spec.device_id};
  request.any_device = spec.kind == deck::LaneKind::automatic;
  const bool host = spec.kind == deck::LaneKind::host;
  request.threads = host && host_threads ? host_threads : spec.threads;
  return request;
}

void refuse_missing_device(const deck::LaneSpec& spec, deck::Findings& findings) {
  if (lane::device_space_name() == "none") {
    findings.error(
        spec.position,
        fmt::format("lane '{}' is a device, but this build has no GPU support", spec.name),
        "rebuild with -DZYGOS_DEVICE=cuda (or hip, sycl), or use kind: emulated");
  } else {
    findings.error(spec.position,
                   fmt::format("lane '{}' is a device, but {} finds none on this machine",
                               spec.name, lane::device_space_name()),
                   "use kind: emulated, or kind: auto to take a device where there is one");
  }
}

/// What to write instead of --threads where no lane is a host.
std::string advice_on_threads(const std::vector<deck::LaneSpec>& lanes) {
  std::string words;
  for (const deck::LaneSpec& lane : lanes) {
    if (lane.kind == deck::LaneKind::emulated && words.size() < 60) {
      words += fmt::format("{}lanes.{}.threads=N", words.empty() ? "" : " ", lane.name);
    }
  }
  return words.empty() ? "its lanes are devices, so leave the option out"
                       : "write " + words + " instead";
}

void refuse_idle_threads(const load::CheckedDeck& checked, const BuildOptions& options) {
  const bool has_host =
      std::any_of(checked.spec.lanes.begin(), checked.spec.lanes.end(),
                  [](const deck::LaneSpec& spec) { return spec.kind == deck::LaneKind::host; });
  if (options.threads && !has_host) {
    throw UsageError("--threads sets the threads of the host lane, and this deck has none; " +
                     advice_on_threads(checked.spec.lanes));
  }
}

/// The lanes of this rank, in the order of the deck.
std::vector<lane::LaneSpec> lanes_of(const load::CheckedDeck& checked, const BuildOptions& options,
                                     const std::vector<int>& owners, const Ranks& ranks) {
  Machine machine = this_machine();
  if (ranks.cores()) {
    machine.cores = *ranks.cores();
    machine.core_numbers.clear();  // other ranks may be on them
  }
  deck::Findings findings = checked.deck.findings();
  std::vector<LaneRequest> requests;
  for (std::size_t place = 0; place < owners.size(); ++place) {
    const deck::LaneSpec& spec = checked.spec.lanes[place];
    if (owners[place] != ranks.rank()) {
      continue;
    }
    if (spec.kind == deck::LaneKind::device && machine.devices == 0) {
      refuse_missing_device(spec, findings);
    }
    requests.push_back(request_of(spec, options.threads));
  }
  findings.throw_if_any();
  refuse_idle_threads(checked, options);
  std::vector<lane::LaneSpec> lanes = resolve_lanes(std::move(requests), machine);
  for (lane::LaneSpec& lane : lanes) {
    lane.records = checked.spec.device_graphs && lane.kind == lane::Kind::emulated && !lane.unified;
  }
  return lanes;
}

train::Every every_of(const deck::Every& every) {
  return {.steps = every.steps, .epochs = every.epochs, .seconds = every.seconds};
}

train::TrainerOptions trainer_options(const deck::RunSpec& spec) {
  train::TrainerOptions options;
  options.batch = spec.train.batch;
  options.epochs = spec.train.epochs;
  options.steps = spec.train.steps;
  options.shuffle = spec.train.shuffle;
  options.drop_last = spec.train.drop_last;
  options.seed = spec.seed;
  options.report = every_of(spec.train.report);
  options.evaluate = every_of(spec.train.evaluate);
  options.checkpoint = every_of(spec.checkpoint.every);
  options.background = spec.checkpoint.background;
  options.checkpoint_failures = spec.checkpoint.failures;
  options.rank_checkpoints = spec.checkpoint.keep_best > 0;
  options.patience = spec.train.patience;
  options.min_improvement = spec.train.min_improvement;
  options.restore_best = spec.train.restore_best;
  if (const std::string& figure = spec.train.best_by; figure != "score") {
    options.best_by = {.figure = figure, .smallest = figure == "mae" || figure == "rmse"};
  }
  return options;
}

void refuse_unfit_targets(const nn::Loss& loss, const io::Dataset& training,
                          const std::optional<io::Dataset>& test) {
  const auto range = loss.target_range();
  if (!range) {
    return;
  }
  const std::string who = fmt::format("loss '{}'", loss.type());
  io::require_targets_within(training, range->least, range->most, who);
  if (test) {
    io::require_targets_within(*test, range->least, range->most, who);
  }
}

void refuse_large_batch(const load::CheckedDeck& checked, const io::Dataset& data) {
  const deck::TrainSpec& train = checked.spec.train;
  if (train.batch > data.size()) {
    deck::Findings findings = checked.deck.findings();
    findings.error(train.batch_position,
                   fmt::format("a batch of {} samples, but '{}' has only {}", train.batch,
                               data.name, data.size()),
                   fmt::format("give train.batch a value from 1 to {}", data.size()));
    findings.throw_if_any();
  }
}

bool evaluates_at_times(const deck::TrainSpec& train) {
  return train.evaluate.steps || train.evaluate.epochs || train.evaluate.seconds;
}

/// What the deck says of the learning rate's way, tried once: null if it says nothing.
nn::RateSchedulePtr rates_of(const load::CheckedDeck& checked, std::int64_t steps_per_epoch,
                             bool evaluates) {
  const deck::Section& optimizer = checked.spec.optimizer;
  if (!optimizer.has("schedule")) {
    return nullptr;
  }
  const deck::Section schedule = optimizer.section("schedule");
  try {
    auto rates = load::made_from(nn::rate_schedule_registry(), schedule.text("type"), schedule);
    static_cast<void>(rates->factor({.done = 0, .steps_per_epoch = steps_per_epoch}));
    if (rates->plateau() && !(evaluates && evaluates_at_times(checked.spec.train))) {
      throw UsageError(fmt::format(
          "'{}' goes by the loss of evaluations, but {}", rates->type(),
          evaluates ? "train.evaluate_every is never; say how often"
                    : "there is no data to evaluate on; add data.validation or data.test"));
    }
    return rates;
  } catch (const UsageError& refusal) {
    deck::Findings findings = checked.deck.findings();
    findings.error(schedule.position(), refusal.what());
    findings.throw_if_any();
    throw;
  }
}

/// Asks the policy for a schedule before anything runs, so that its refusal is a finding.
/// Chooses what becomes of activations, and sees that the policy can do it.
void refuse_unfit_policy(const load::CheckedDeck& checked, RunSetup& setup) {
  try {
    setup.activations = activation_choice(checked, setup);
    static_cast<void>(unmeasured_schedule(setup));
  } catch (const UsageError& refusal) {
    deck::Findings findings = checked.deck.findings();
    findings.error(checked.spec.policy.position(), refusal.what());
    findings.throw_if_any();
  }
}

/// Lanes of kind auto are devices only now.
void refuse_strict_tf32_lanes(const load::CheckedDeck& checked, const RunSetup& setup) {
  deck::Findings findings = checked.deck.findings();
  for (const std::string& lane : tf32_lanes(setup).with) {
    deck::refuse_strict_tf32(checked.deck.root(), checked.spec, lane, findings);
  }
  findings.throw_if_any();
}

/// The best checkpoints are those with the best evaluation, and there may be no test data.
void refuse_unranked(const load::CheckedDeck& checked, bool evaluates) {
  const deck::CheckpointSpec& spec = checked.spec.checkpoint;
  if (spec.keep_best > 0 && !evaluates) {
    deck::Findings findings = checked.deck.findings();
    findings.error(spec.keep_best_position,
                   fmt::format("keeps the {} best checkpoints, but there is no test data to rank "
                               "them by",
                               spec.keep_best),
                   "name the data to evaluate on in data.test, or leave keep_best out");
    findings.throw_if_any();
  }
}

std::optional<bool> streams_checkpoints_of(const deck::CheckpointSpec& spec) {
  using Copy = deck::CheckpointSpec::Copy;
  return spec.copy == Copy::automatic ? std::nullopt : std::optional(spec.copy == Copy::streamed);
}

/// On several ranks the first one writes, and gathers the state of all.
void refuse_streamed_ranks(const load::CheckedDeck& checked, const Ranks& ranks) {
  const deck::CheckpointSpec& spec = checked.spec.checkpoint;
  if (!ranks.alone() && spec.copy == deck::CheckpointSpec::Copy::streamed) {
    deck::Findings findings = checked.deck.findings();
    findings.error(spec.copy_position,
                   fmt::format("a streamed checkpoint takes all lanes in one process, and this run "
                               "has {} processes",
                               ranks.size()),
                   "set 'copy: whole' or leave it out: the first process gathers the state of all, "
                   "for which its machine needs the memory");
    findings.throw_if_any();
  }
}

bool is_metric(const std::string& best_by) { return best_by != "score" && best_by != "loss"; }

void refuse_unfit_metric(const std::string& name, const nn::Loss& loss,
                         const deck::Position& position, deck::Findings& findings) {
  const bool numbers = !loss.wants_labels() && !loss.target_range();
  const bool of_numbers = name == "mae" || name == "rmse" || name == "r2";
  if (of_numbers ? !numbers : !loss.wants_labels()) {
    findings.error(position,
                   fmt::format("'{}' is a metric of {}, but the loss is '{}'", name,
                               of_numbers ? "numbers" : "labels", loss.type()),
                   numbers               ? "allowed are mae, rmse and r2"
                   : loss.wants_labels() ? "allowed are top5, macro_f1, per_class and confusion"
                                         : "its score says it all; leave 'metrics' out");
  }
}

void refuse_unfit_evaluations(const load::CheckedDeck& checked, const nn::Loss& loss,
                              bool evaluates) {
  const deck::TrainSpec& train = checked.spec.train;
  deck::Findings findings = checked.deck.findings();
  if (train.patience && !evaluates) {
    findings.error(train.patience_position,
                   "stops when evaluations get no better, but there is no data to evaluate on",
                   "add data.validation or data.test, or leave patience out");
  }
  if (train.restore_best && !(evaluates && evaluates_at_times(train))) {
    findings.error(train.restore_best_position,
                   evaluates ? "the best evaluation is wanted, but train.evaluate_every is never"
                             : "the best evaluation is wanted, but there is no data to evaluate on",
                   evaluates ? "say how often with evaluate_every, or leave restore_best out"
                             : "add data.validation or data.test, or leave restore_best out");
  }
  for (const std::string& name : train.metrics) {
    refuse_unfit_metric(name, loss, train.metrics_position, findings);
  }
  if (is_metric(train.best_by)) {
    refuse_unfit_metric(train.best_by, loss, train.best_by_position, findings);
  }
  findings.throw_if_any();
}

void refuse_unlisted_classes(const load::CheckedDeck& checked, std::int64_t classes) {
  const deck::TrainSpec& train = checked.spec.train;
  if (classes > max_listed_classes &&
      std::ranges::find(train.metrics, "per_class") != train.metrics.end()) {
    deck::Findings findings = checked.deck.findings();
    findings.error(train.metrics_position,
                   fmt::format("'per_class' lists at most {} classes, and the data have {}",
                               max_listed_classes, classes),
                   "take macro_f1, the mean over all classes");
    findings.throw_if_any();
  }
}

/// Those of the deck, and the one that says what is best.
std::vector<std::string> metrics_of(const deck::TrainSpec& train) {
  std::vector<std::string> metrics = train.metrics;
  if (is_metric(train.best_by) && std::ranges::find(metrics, train.best_by) == metrics.end()) {
    metrics.push_back(train.best_by);
  }
  return metrics;
}

/// All but Kokkos and the lanes.
RunSetup parts_of(const load::CheckedDeck& checked, const BuildOptions& options) {
  const std::int64_t max_batches = options.max_batches;
  const deck::RunSpec& spec = checked.spec;
  RunSetup setup;
  setup.name = spec.name;
  setup.resolved_deck = checked.deck.resolved();
  setup.host_budget_bytes = spec.memory_plan.host_memory_bytes;
  setup.disk_bytes_per_second = spec.memory_plan.disk_bytes_per_second;
  setup.spill_folder = spec.memory_plan.folder;
  load::RunData data =
      load::load_data(spec, checked.deck.findings(), max_batches * spec.train.batch);
  setup.graph = std::make_unique<graph::Graph>(
      load::build_model(spec, data.training, checked.deck.findings()));
  refuse_unfit_targets(setup.graph->loss(), data.training, data.test);
  load::normalise(spec.data, setup.graph->loss(), data);
  setup.training = std::move(data.training);
  setup.validates = data.validation && !(options.evaluates_test && data.test);
  setup.test = setup.validates ? std::move(data.validation) : std::move(data.test);
  refuse_large_batch(checked, setup.training);
  refuse_unranked(checked, setup.test.has_value() || max_batches > 0);
  refuse_unfit_evaluations(checked, setup.graph->loss(), setup.test.has_value() || max_batches > 0);
  refuse_unlisted_classes(checked, setup.training.classes);
  setup.metrics = metrics_of(spec.train);
  setup.dtype = spec.precision;
  setup.tf32 = spec.tf32;
  setup.device_graphs = spec.device_graphs;
  setup.target = {setup.training.target_shape(),
                  setup.training.classes > 0 ? DType::i32 : wide(spec.precision)};
  load::require_tokens(*setup.graph, setup.training);
  if (setup.test) {
    load::require_tokens(*setup.graph, *setup.test);
  }
  setup.optimizer =
      load::made_from(nn::optimizer_registry(), spec.optimizer.text("type"), spec.optimizer);
  setup.policy = load::made_from(policies::registry(), spec.policy.text("type"), spec.policy);
  setup.trainer = trainer_options(spec);
  setup.trainer.augmentation =
      load::augmentation_of(spec.data, *setup.graph, setup.training, checked.deck.findings());
  setup.rates = rates_of(
      checked,
      train::steps_per_epoch(setup.training.size(), spec.train.batch, spec.train.drop_last),
      setup.test.has_value() || max_batches > 0);
  setup.chunk = spec.train.chunk;
  setup.accumulate = spec.train.accumulate.value_or(0);
  setup.double_buffer = spec.train.double_buffer;
  setup.codecs = codecs_of(spec);
  setup.streams_checkpoints = streams_checkpoints_of(spec.checkpoint);
  setup.keep = {.newest = spec.checkpoint.keep,
                .best = std::max(spec.checkpoint.keep_best, spec.train.restore_best ? 1 : 0)};
  setup.first_samples = io::samples_in_memory(setup.training, 0, spec.train.batch);
  setup.first_batch = io::first_ids(setup.trainer.batch);
  return setup;
}

}  // namespace

BuildOptions build_options(const Invocation& invocation) {
  return {.threads = invocation.threads, .kokkos_arguments = invocation.kokkos_arguments};
}

RunSetup build_run(const load::CheckedDeck& checked, const BuildOptions& options) {
  return build_run(checked, options, Ranks());
}

RunSetup build_run(const load::CheckedDeck& checked, const BuildOptions& options,
                   const Ranks& ranks) {
  if (!ranks.alone()) {
    ranks.communicator()->set_time_limit(checked.spec.train.peer_timeout_s);
  }
  ranks.require_same("the deck " + checked.spec.name, checked.deck.resolved());
  const auto owners =
      ranks.together([&] { return deal_out(checked.spec.lanes.size(), ranks.size()); });
  const auto lanes = agree_on_lanes(
      ranks.together([&] { return lanes_of(checked, options, owners, ranks); }), owners, ranks);
  RunSetup setup = ranks.together([&] {
    refuse_streamed_ranks(checked, ranks);
    RunSetup made = parts_of(checked, options);
    made.kokkos = std::make_unique<KokkosSession>(options.kokkos_arguments);
    made.lanes = make_lanes(lanes, owners, ranks.rank());
    refuse_strict_tf32_lanes(checked, made);
    if (!ranks.alone()) {
      made.owners = owners;
    }
    refuse_unfit_policy(checked, made);
    return made;
  });
  if (!ranks.alone()) {
    ranks.require_same("the training set " + setup.training.name, hash_of(setup.training));
    ranks.require_same("the test set", setup.test ? hash_of(*setup.test) : "none");
    setup.communicator = ranks.communicator();
    setup.on_this_host = ranks.on_this_host();
    std::ranges::transform(owners, std::back_inserter(setup.homes),
                           [&](int rank) { return ranks.name_of(rank); });
  }
  return setup;
}

PlanSubject plan_subject(const RunSetup& setup) {
  return {*setup.graph, *setup.optimizer, *setup.lanes,
          setup.dtype,  setup.target,     !graph_lanes(setup).with.empty()};
}

}  // namespace zygos::app
