// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/engine.hpp"

#include "train/engine_impl.hpp"
#include "train/tasks/pass.hpp"

#include <algorithm>
#include <cmath>

namespace zygos::train {
namespace {

using schedule::TaskKind;

void require_valid(const schedule::Schedule& schedule, std::size_t lanes) {
  const auto findings = schedule::validate(schedule);
  if (!findings.empty()) {
    throw UsageError("the schedule of policy '" + schedule.policy +
                     "' can't run: " + findings.front());
  }
  if (schedule.places.size() != lanes) {
    throw UsageError("the schedule is for " + std::to_string(schedule.places.size()) +
                     " lanes, the run has " + std::to_string(lanes));
  }
}

/// Who builds a schedule knows it from the problem; this is for those that did not look.
void require_norms(const schedule::Schedule& schedule, bool clips) {
  for (const schedule::Task& task : schedule.tasks) {
    if (task.kind == TaskKind::update && task.elements.count() > 0 && task.clips != clips) {
      throw UsageError("the schedule of policy '" + schedule.policy + "' was made for gradients " +
                       (clips ? "as they are, and the optimizer clips them by their norm"
                              : "clipped by their norm, and the optimizer does not clip") +
                       "; set schedule::Outline::clips as the optimizer has it");
    }
  }
}

}  // namespace

int cores_of(const EngineOptions& options) {
  return options.cores > 0 ? options.cores : lane::process_cores();
}

Engine::Impl::Impl(const graph::Graph& graph_, const nn::Optimizer& optimizer_,
                   lane::LaneSet& lanes_, schedule::Schedule schedule_,
                   const plan::TargetSpec& target_, EngineOptions options_)
    : whole_model(graph_),
      optimizer(optimizer_),
      lanes(lanes_),
      schedule(std::move(schedule_)),
      shards(schedule.slices.empty() ? std::nullopt
                                     : std::optional(graph::sharded(graph_, schedule.slices))),
      graph(shards ? *shards : whole_model),
      options(options_),
      target(target_),
      states(lanes_.size()),
      signals(schedule.tasks.size(), lanes_.size() * schedule::queue_count),
      trace(lanes_.size() * schedule::queue_count, options_.trace_capacity),
      failures(lanes_.size() * schedule::queue_count) {
  options.cores = cores_of(options);  // here: threads of lanes may be bound to fewer
  own_cores = lanes.cores_of_their_own(options.cores);
  spin_timeout = lanes.spin_timeout(options.cores);
  require_valid(schedule, lanes.size());
  require_norms(schedule, optimizer.clip_norm().has_value());
  graph.require_precision(options.dtype);
  static_cast<void>(rate_factor(1));  // refuses a schedule of rates that can't be
  totals.resize(totals_of_place * lanes.size());
  make_places();
  announce_messages();
  make_jobs();
}

void Engine::Impl::make_places() {
  plan::MemoryRequest request{whole_model, optimizer, options.dtype, target, {}};
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    request.host_accessible.push_back(lanes[place].host_accessible());
  }
  auto memory = options.plan_memory ? options.plan_memory(request, schedule)
                                    : plan::plan_memory(request, schedule);
  find_holders(memory);
  training = training_queues(schedule);
  evaluation = evaluation_queues(schedule, memory);
  for (const schedule::Place active_place : schedule.active_places()) {
    const auto place = static_cast<std::size_t>(active_place);
    add_usage(place, memory[place]);
    if (!is_here(place)) {
      continue;
    }
    active.push_back(place);
    const PlaceSetup setup{graph,        optimizer, schedule,      lanes[place],
                           active_place, target,    options.dtype, options.seed};
    states[place] = std::make_unique<PlaceState>(setup, std::move(memory[place]));
  }
}

void Engine::Impl::announce_messages() {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto place = static_cast<std::size_t>(task.place);
    for (const schedule::Buffer& buffer : task.writes) {
      if (buffer.kind == schedule::BufferKind::message && is_here(place)) {
        board.set(buffer, message_memory(*states[place], static_cast<schedule::TaskId>(id)));
      }
    }
  }
}

int Engine::Impl::owner_of(std::size_t place) const {
  return options.communicator == nullptr ? -1 : options.owners.at(place);
}

void Engine::Impl::make_jobs() {
  if (options.communicator != nullptr && options.communicator->size() > 1) {
    rank_messages =
        std::make_unique<RankMessages>(*options.communicator, options.owners, schedule, board);
    wait_for_arrivals(schedule, options.owners, training);
    wait_for_arrivals(schedule, options.owners, evaluation);
  }
  make_workers();
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    workers[worker].job = [this, worker] { work(workers[worker]); };
  }
}

double Engine::Impl::rate_factor(std::uint64_t step) const {
  return options.rates == nullptr
             ? 1.0
             : options.rates->factor({.done = static_cast<std::int64_t>(step) - 1,
                                      .steps_per_epoch = options.steps_per_epoch});
}

void Engine::Impl::add_totals(StepReport& report) {
  std::ranges::fill(totals, 0.0);
  for (const std::size_t place : active) {
    double* const of_place = totals.data() + totals_of_place * place;
    std::ranges::copy(sums_of_loss(*states[place]), of_place);
    of_place[3] = train::has_bad_gradient(*states[place]) ? 1.0 : 0.0;
  }
  if (rank_messages != nullptr) {
    // Each place's sums are those of one rank, and zeros change no bit.
    options.communicator->sum(totals);
  }
  double loss_sum = 0.0;
  std::int64_t valid = 0;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    const double* const of_place = totals.data() + totals_of_place * place;
    loss_sum += of_place[0];
    report.hits += std::llround(of_place[1]);
    valid += std::llround(of_place[2]);
  }
  if (const auto score = graph.loss().score()) {
    report.best_hits = valid * score->best;
  }
  report.loss = loss_sum / static_cast<double>(report.samples);
}

StepReport Engine::Impl::round(const Batch& batch, const StepInputs& round_inputs) {
  check_batch(batch);
  if (!whole) {
    throw InternalError(
        "the engine holds no consistent state; call initialise() or restore() first");
  }
  const double start = now();
  StepInputs measured = round_inputs;
  measured.measures = is_to_measure(round_inputs);
  run_round(measured);
  if (measured.measures) {
    measure_memory();
  }
  StepReport report;
  report.samples = batch.samples();
  add_totals(report);
  report.seconds = now() - start;
  return report;
}

Engine::Engine(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
               schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options)
    : impl_(std::make_unique<Impl>(graph, optimizer, lanes, std::move(schedule), target, options)) {
}

Engine::~Engine() = default;

StepReport Engine::step(const Batch& batch, std::uint64_t step) {
  impl_->require_training();
  const StepReport report =
      impl_->round(batch, {&batch, step, nn::Mode::train, impl_->rate_factor(step)});
  if (!std::isfinite(report.loss) || impl_->has_bad_gradient()) {
    impl_->whole = false;
    impl_->fail_numerically(report.loss);
  }
  return report;
}

double Engine::learning_rate(std::uint64_t step) const {
  return impl_->optimizer.learning_rate() * impl_->rate_factor(step);
}

StepReport Engine::evaluate(const Batch& batch) {
  return impl_->round(batch, {&batch, 0, nn::Mode::evaluate, 1.0});
}

void Engine::agree(std::span<std::int64_t> values) const {
  if (impl_->rank_messages != nullptr) {
    impl_->options.communicator->max(values);
  }
}

const schedule::Schedule& Engine::schedule() const noexcept { return impl_->schedule; }

bool Engine::one_driver(std::size_t place) const { return impl_->one_driver(place); }

std::chrono::microseconds Engine::spin_timeout() const { return impl_->spin_timeout; }

Trace& Engine::trace() noexcept { return impl_->trace; }

std::vector<LaneUsage> Engine::memory() const { return impl_->usage; }

}  // namespace zygos::train
