// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/engine.hpp"

#include "train/engine_impl.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace zygos::train {
namespace {

using schedule::TaskKind;

/// Kinds that a lane's slow-down factor stretches: arithmetic, not copies (those have the link).
bool computes(TaskKind kind) {
  switch (kind) {
    case TaskKind::forward:
    case TaskKind::recompute:
    case TaskKind::loss:
    case TaskKind::backward:
    case TaskKind::statistics:
    case TaskKind::squares:
    case TaskKind::update:
    case TaskKind::average:
      return true;
    default:
      return false;
  }
}

void add_usage(std::vector<LaneUsage>& all, const std::string& name,
               const plan::PlaceMemory& memory) {
  all.push_back({name, memory.lane.usage(), memory.lane.total()});
  if (memory.staging.total() > 0) {
    all.push_back({name + "/staging", memory.staging.usage(), memory.staging.total()});
  }
}

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

Engine::Impl::Impl(const graph::Graph& graph_, const nn::Optimizer& optimizer_,
                   lane::LaneSet& lanes_, schedule::Schedule schedule_,
                   const plan::TargetSpec& target_, EngineOptions options_)
    : graph(graph_),
      optimizer(optimizer_),
      lanes(lanes_),
      schedule(std::move(schedule_)),
      options(options_),
      target(target_),
      runners(lanes_.size()),
      signals(schedule.tasks.size()),
      trace(lanes_.size() * schedule::queue_count, options_.trace_capacity),
      failures(lanes_.size() * schedule::queue_count) {
  require_valid(schedule, lanes.size());
  require_norms(schedule, optimizer.clip_norm().has_value());
  graph.require_precision(options.dtype);
  static_cast<void>(rate_factor(1));  // refuses a schedule of rates that can't be
  totals.resize(totals_of_place * lanes.size());
  make_runners();
  announce_messages();
  make_jobs();
}

void Engine::Impl::make_runners() {
  plan::MemoryRequest request{graph, optimizer, options.dtype, target, {}};
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    request.host_accessible.push_back(lanes[place].host_accessible());
  }
  auto memory = plan::plan_memory(request, schedule);
  training = training_queues(schedule);
  evaluation = evaluation_queues(schedule, memory);
  for (const schedule::Place active_place : schedule.active_places()) {
    const auto place = static_cast<std::size_t>(active_place);
    add_usage(usage, lanes[place].name(), memory[place]);
    if (!is_here(place)) {
      continue;
    }
    active.push_back(place);
    const PlaceSetup setup{graph,        optimizer, schedule,      lanes[place],
                           active_place, target,    options.dtype, options.seed};
    runners[place] = std::make_unique<PlaceRunner>(setup, std::move(memory[place]));
  }
}

void Engine::Impl::announce_messages() {
  for (const schedule::Task& task : schedule.tasks) {
    for (const schedule::Buffer& buffer : task.writes) {
      if (buffer.kind == schedule::BufferKind::message &&
          is_here(static_cast<std::size_t>(task.place))) {
        board.set(buffer, runners[static_cast<std::size_t>(task.place)]->message_memory(task));
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
  jobs.resize(training.size());
  for (std::size_t line = 0; line < training.size(); ++line) {
    if (!training[line].empty() && is_here(place_of_line(line))) {
      lines.push_back(line);
      lanes[place_of_line(line)].open(lane_line(line));
      jobs[line] = [this, line] { work(line); };
    }
  }
  // Whoever computes begins first: messages come later, and handing over takes its time.
  std::ranges::stable_sort(lines, {}, lane_line);
}

double Engine::Impl::rate_factor(std::uint64_t step) const {
  return options.rates == nullptr
             ? 1.0
             : options.rates->factor({.done = static_cast<std::int64_t>(step) - 1,
                                      .steps_per_epoch = options.steps_per_epoch});
}

double Engine::Impl::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin).count();
}

const TaskQueue& Engine::Impl::queue_of(std::size_t line) const {
  return inputs.trains() ? training[line] : evaluation[line];
}

void Engine::Impl::work(std::size_t line) {
  try {
    work_through(line);
  } catch (...) {
    failures[line].cause = std::current_exception();
    abort.store(true);
    // Whoever waits for one of this line's tasks wakes, sees the abort and stops.
    for (const QueuedTask& task : queue_of(line)) {
      signals.set(static_cast<std::size_t>(task.id), round_number);
    }
  }
}

void Engine::Impl::stop_waiting() {
  abort.store(true);
  for (std::size_t task = 0; task < schedule.tasks.size(); ++task) {
    signals.set(task, round_number);
  }
}

void Engine::Impl::move_messages() {
  if (rank_messages == nullptr) {
    return;
  }
  try {
    rank_messages->begin(inputs.trains());
    while (!abort.load() && !rank_messages->progress(signals, round_number)) {
      std::this_thread::yield();  // ranks may share cores with the lanes
    }
  } catch (...) {
    peer_failure = std::current_exception();
    stop_waiting();
    return;
  }
  if (abort.load()) {
    options.communicator->abort("a lane of rank " + std::to_string(options.communicator->rank()) +
                                " has failed");
  }
}

std::chrono::microseconds Engine::Impl::patience_for(std::size_t line, std::size_t task) const {
  // Whoever computes at the other end does so on another core. A message is moved on this one.
  const bool both_compute = lane_line(line) == lane::Line::compute &&
                            schedule.tasks[task].queue == schedule::Queue::compute;
  return both_compute ? lane::computing_patience : lane::other_patience;
}

void Engine::Impl::work_through(std::size_t line) {
  for (const QueuedTask& task : queue_of(line)) {
    failures[line].task = task.id;
    for (const std::size_t before : task.wait_for) {
      signals.wait(before, round_number, patience_for(line, before));
    }
    if (abort.load()) {
      // Set by a peer: its own signals are already out, ours must not keep it waiting either.
      for (const QueuedTask& rest : queue_of(line)) {
        signals.set(static_cast<std::size_t>(rest.id), round_number);
      }
      return;
    }
    run_task(line, task);
  }
  lanes[place_of_line(line)].fence("zygos::train::end_of_step");
}

void Engine::Impl::run_task(std::size_t line, const QueuedTask& queued) {
  const schedule::Task& task = schedule.tasks[static_cast<std::size_t>(queued.id)];
  const std::size_t place = place_of_line(line);
  const lane::Lane& lane = lanes[place];
  const double start = now();
  const double core_start = options.time_cores ? lane::thread_core_seconds() : 0.0;
  runners[place]->run(queued.id, board);
  if (queued.signals || options.time_every_task) {
    lane.fence("zygos::train::task");
  }
  if (computes(task.kind)) {
    lane.hold_back(now() - start);
  }
  const double core_end = options.time_cores ? lane::thread_core_seconds() : 0.0;
  trace.record(line, {inputs.step, queued.id, start, now(), core_end - core_start});
  if (queued.signals) {
    signals.set(static_cast<std::size_t>(queued.id), round_number);
  }
}

void Engine::Impl::add_totals(StepReport& report) {
  std::ranges::fill(totals, 0.0);
  for (const std::size_t place : active) {
    double* const of_place = totals.data() + totals_of_place * place;
    of_place[0] = runners[place]->loss_sum();
    of_place[1] = runners[place]->hit_sum();
    of_place[2] = runners[place]->judged_sum();
    of_place[3] = runners[place]->has_bad_gradient() ? 1.0 : 0.0;
  }
  if (rank_messages != nullptr) {
    // Each place's sums are those of one rank, and zeros change no bit.
    options.communicator->sum(totals);
  }
  double loss_sum = 0.0;
  std::int64_t judged = 0;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    const double* const of_place = totals.data() + totals_of_place * place;
    loss_sum += of_place[0];
    report.hits += std::llround(of_place[1]);
    judged += std::llround(of_place[2]);
  }
  if (const auto score = graph.loss().score()) {
    report.best_hits = judged * score->best;
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
  run_round(round_inputs);
  StepReport report;
  report.samples = batch.samples();
  add_totals(report);
  report.seconds = now() - start;
  return report;
}

void Engine::Impl::run_round(const StepInputs& round_inputs) {
  inputs = round_inputs;
  ++round_number;
  for (const std::size_t place : active) {
    runners[place]->begin(inputs);
  }
  for (const std::size_t line : lines) {
    lanes[place_of_line(line)].run(jobs[line], lane_line(line));
  }
  move_messages();
  for (const std::size_t line : lines) {
    lanes[place_of_line(line)].wait(lane_line(line));
  }
  rethrow_failure();
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

Trace& Engine::trace() noexcept { return impl_->trace; }

std::vector<LaneUsage> Engine::memory() const { return impl_->usage; }

}  // namespace zygos::train
