// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/engine_impl.hpp"

#include "train/check_batch.hpp"
#include "train/state/not_finite.hpp"
#include "train/tasks/pass.hpp"

#include "zygos/memory/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <utility>

namespace zygos::train {
namespace {

using schedule::TaskKind;

void require_valid(const schedule::Schedule& schedule, std::size_t lanes) {
  const auto findings = schedule::validate(schedule);
  if (!findings.empty()) {
    throw UsageError("the schedule of policy '" + schedule.policy +
                     "' can't run: " + findings.front());
  }
  if (schedule.lane_count() != lanes) {
    throw UsageError("the schedule is for " + std::to_string(schedule.lane_count()) +
                     " lanes, the run has " + std::to_string(lanes));
  }
}

/// Who builds a schedule knows it from the problem; this is for those that did not look.
void require_norms(const schedule::Schedule& schedule, bool clips) {
  for (const schedule::Task& task : schedule.tasks) {
    const bool made_for_clipping = task.clips || task.kind == TaskKind::speculate;
    if (makes_version(task.kind) && task.elements.count() > 0 && made_for_clipping != clips) {
      throw UsageError("the schedule of policy '" + schedule.policy + "' was made for gradients " +
                       (clips ? "as they are, and the optimizer clips them by their norm"
                              : "clipped by their norm, and the optimizer does not clip") +
                       "; set schedule::Outline::clips as the optimizer has it");
    }
  }
}

/// What the loss reads is known now; else the first step would find out, on some lane.
void require_targets(const nn::Loss& loss, DType activations, DType found) {
  const DType wanted = loss.wants_labels() ? DType::i32 : wide(activations);
  if (found != wanted) {
    throw UsageError("targets are " + std::string(name_of(found)) + ", but loss '" +
                     std::string(loss.type()) + "' of an engine with " +
                     std::string(name_of(activations)) + " activations reads " +
                     std::string(name_of(wanted)) + "; set plan::TargetSpec::dtype to that (data " +
                     "of any other type are converted)");
  }
}

/// Their number as it is now: threads of lanes may be bound to fewer.
EngineOptions with_cores(EngineOptions options) {
  options.cores = cores_of(options);
  return options;
}

/// Rank of every place, from that of every lane.
std::vector<int> owners_of_places(const schedule::Schedule& schedule,
                                  const std::vector<int>& owners) {
  std::vector<int> of_places;
  for (std::size_t place = 0; place < schedule.places.size() && !owners.empty(); ++place) {
    of_places.push_back(owners.at(schedule.lane_of(static_cast<schedule::Place>(place))));
  }
  return of_places;
}

/// Before the first lane's memory is allocated: the system grants more than there is.
void require_host_memory(const std::vector<plan::LaneMemory>& of_lanes, const lane::LaneSet& lanes,
                         std::uint64_t limit) {
  std::uint64_t bytes = 0;
  for (std::size_t lane = 0; lane < of_lanes.size(); ++lane) {
    if (!lanes[lane].is_remote()) {
      bytes += plan::host_bytes(of_lanes[lane], lanes[lane].spec().kind);
    }
  }
  if (limit > 0 && bytes > limit) {
    throw MemoryError("the lanes need " + memory::text_of_bytes(bytes) +
                      " of host memory together, and " + memory::text_of_bytes(limit) +
                      " may be used; use a smaller batch or model, or more micro-batches");
  }
}

/// Null if this process has all lanes.
comm::Communicator* ranks_of(const EngineOptions& options) {
  const bool several = options.communicator != nullptr && options.communicator->size() > 1;
  return several ? options.communicator : nullptr;
}

}  // namespace

Engine::Impl::Impl(const graph::Graph& graph, const nn::Optimizer& optimizer_, lane::LaneSet& lanes,
                   schedule::Schedule schedule_, const plan::TargetSpec& target_,
                   EngineOptions options_)
    : optimizer(optimizer_),
      schedule(std::move(schedule_)),
      model(graph, schedule),
      options(with_cores(std::move(options_))),
      target(target_),
      places{.lanes = lanes,
             .schedule = schedule,
             .ranks = ranks_of(options),
             .owners = owners_of_places(schedule, options.owners)},
      state{.model = model,
            .places = places,
            .parameters = wide(options.dtype),
            .optimizer_states = optimizer.state_names().size()},
      workers(lanes, schedule, options.cores),
      trace(schedule.places.size() * schedule::queue_count, options.trace_capacity),
      loop({.workers = workers,
            .places = places,
            .board = board,
            .trace = trace,
            .times_tasks = options.time_every_task,
            .times_cores = options.time_cores}),
      totals(totals_of_place * schedule.places.size()) {
  require_valid(schedule, lanes.size());
  require_norms(schedule, optimizer.clip_norm().has_value());
  if (std::ranges::find(schedule.tasks, schedule::TaskKind::backward, &schedule::Task::kind) !=
      schedule.tasks.end()) {
    graph.require_unfrozen();
  }
  model.graph.require_precision(options.dtype);
  require_targets(model.graph.loss(), options.dtype, target.dtype);
  static_cast<void>(rate_factor(1));  // refuses a schedule of rates that can't be
  tasks.emplace(schedule);
  make_places();
  announce_messages();
  make_jobs();
}

void Engine::Impl::make_places() {
  const plan::MemoryRequest request{model.whole, optimizer, options.dtype, target, records_steps()};
  auto planned = options.plan_memory ? options.plan_memory(request, schedule)
                                     : plan::plan_memory(request, *tasks);
  const std::vector<plan::LaneMemory> of_lanes = plan::lane_memory(schedule, planned);
  plan::require_host_budget(of_lanes, options.host_budget_bytes);
  require_host_memory(of_lanes, places.lanes, options.host_memory_bytes);
  for (std::size_t lane = 0; lane < of_lanes.size(); ++lane) {
    if (of_lanes[lane].active) {
      const lane::Lane& one = places.lanes[lane];
      of_lanes[lane].lane.require_within(one.spec().budget_bytes, one.name());
      add_lane(memory, one.name(), of_lanes[lane]);
    }
  }
  state.holders = find_holders(*tasks, planned);
  workers.training = training_queues(schedule);
  workers.evaluation = evaluation_queues(schedule, planned);
  workers.filling = filling_queues(schedule);
  loads_ahead =
      !std::ranges::all_of(workers.filling, [](const TaskQueue& queue) { return queue.empty(); });
  announced.reserve(static_cast<std::size_t>(schedule.batch));
  places.here.resize(places.count());
  for (const schedule::Place active_place : schedule.active_places()) {
    const auto place = static_cast<std::size_t>(active_place);
    if (!places.is_here(place)) {
      continue;
    }
    places.active.push_back(place);
    const PlaceSetup setup{model.graph,
                           optimizer,
                           *tasks,
                           places.lane(place),
                           active_place,
                           target,
                           options.dtype,
                           options.seed,
                           options.spill_folder,
                           options.tf32,
                           records_steps() && places.lane(place).records()};
    places.here[place] = std::make_unique<PlaceState>(setup, std::move(planned[place]));
  }
}

bool Engine::Impl::records_steps() const {
  bool records = false;
  for (std::size_t lane = 0; lane < places.lanes.size(); ++lane) {
    records = records || places.lanes[lane].records();
  }
  return options.record_steps && places.ranks == nullptr && records;
}

void Engine::Impl::announce_messages() {
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const schedule::Task& task = schedule.tasks[id];
    const auto place = static_cast<std::size_t>(task.place);
    for (const schedule::Buffer& buffer : task.writes) {
      if (buffer.kind == schedule::BufferKind::message && places.is_here(place)) {
        board.set(buffer, message_memory(*places.here[place], static_cast<schedule::TaskId>(id)));
      }
    }
  }
}

void Engine::Impl::make_jobs() {
  if (places.ranks != nullptr) {
    rank_messages = std::make_unique<RankMessages>(*places.ranks, places.owners, schedule, board);
    wait_for_arrivals(schedule, places.owners, workers.training);
    wait_for_arrivals(schedule, places.owners, workers.evaluation);
  }
  make_workers(workers);
  loop.attach();
}

void Engine::Impl::require_training() const {
  if (std::ranges::none_of(schedule.tasks,
                           [](const auto& task) { return task.kind == TaskKind::backward; })) {
    throw UsageError(
        "this schedule has no backward pass: it evaluates, and has neither steps nor gradients");
  }
}

double Engine::Impl::rate_factor(std::uint64_t step) const {
  return options.rates == nullptr
             ? 1.0
             : options.rates->factor({.done = static_cast<std::int64_t>(step) - 1,
                                      .steps_per_epoch = options.steps_per_epoch,
                                      .reductions = rate_reductions});
}

StepReport Engine::Impl::round(const StepInputs& round_inputs) {
  const BatchRules rules{schedule.batch, model.graph.input_shape(), target.shape};
  check_batch(*round_inputs.batch, rules);
  if (loads_ahead && round_inputs.next != nullptr) {
    check_batch(*round_inputs.next, rules);
  }
  if (!whole) {
    throw InternalError(
        "the engine holds no consistent state; call initialise() or restore() first");
  }
  const double start = workers.now();
  StepInputs measured = round_inputs;
  measured.measures = is_to_measure(memory, round_inputs);
  have_batch(measured);
  run_round(measured);
  if (loads_ahead && measured.next != nullptr) {
    announced.note(*measured.next);
  }
  if (measured.measures) {
    measure_memory(memory, places);
  }
  StepReport report;
  report.samples = round_inputs.batch->samples();
  report.launches = loop.launches();
  report.recorded_tasks = loop.recorded_tasks();
  add_totals(report);
  report.seconds = workers.now() - start;
  return report;
}

void Engine::Impl::have_batch(const StepInputs& round_inputs) {
  if (!loads_ahead) {
    return;
  }
  if (announced.is(*round_inputs.batch)) {
    announced.forget();
    for (const std::size_t place : places.active) {
      turn_to_next(*places.here[place]);
    }
    return;
  }
  StepInputs filling = round_inputs;
  filling.fills = true;
  filling.step = 0;  // of the trace: it is no part of a step
  filling.next = nullptr;
  run_round(filling);
}

void Engine::Impl::run_round(const StepInputs& round_inputs) {
  inputs = round_inputs;
  begin_round(workers, inputs.fills      ? workers.filling
                       : inputs.trains() ? workers.training
                                         : workers.evaluation);
  loop.begin(inputs);
  for (const std::size_t place : places.active) {
    begin_call(*places.here[place], inputs);
  }
  hand_out(workers);
  move_messages();
  lane::LaneSet& lanes = places.lanes;
  for (const Worker& worker : workers.all) {
    lanes[worker.lane].wait(worker.driver);
  }
  if (inputs.fills) {
    tell_peers_of_failure();  // no message would
  }
  const auto last = std::ranges::find_if(
      workers.all.rbegin(), workers.all.rend(),
      [](const Worker& worker) { return worker.driver == lane::Line::compute; });
  if (places.ranks == nullptr && last != workers.all.rend() && workers.one_driver(last->lane)) {
    // Nothing was left to do here, and nothing will be until all have ended again.
    lanes[last->lane].follow(last->driver);
  }
  rethrow_failure();
}

void Engine::Impl::move_messages() {
  if (rank_messages == nullptr || inputs.fills) {
    return;
  }
  try {
    rank_messages->begin(inputs.trains(), inputs.step);
    while (!workers.abort.load() &&
           !rank_messages->progress(workers.signals, workers.round, workers.now())) {
      places.ranks->give_way();
    }
  } catch (...) {
    peer_failure = std::current_exception();
    stop_round(workers);
    return;
  }
  tell_peers_of_failure();
}

void Engine::Impl::tell_peers_of_failure() {
  if (places.ranks != nullptr && workers.abort.load()) {
    places.ranks->abort("a lane of rank " + std::to_string(places.ranks->rank()) + " has failed");
  }
}

void Engine::Impl::rethrow_failure() {
  if (!workers.abort.load()) {
    return;
  }
  workers.abort.store(false);
  whole = false;
  announced.forget();
  const auto lost_peer = std::exchange(peer_failure, nullptr);
  for (std::size_t line = 0; line < loop.failures().size(); ++line) {
    WorkerLoop::Failure& failure = loop.failures()[line];
    if (failure.cause == nullptr) {
      continue;
    }
    const std::size_t place = place_of_line(line);
    const auto cause = std::exchange(failure.cause, nullptr);
    const std::string task = schedule.name_of(failure.task);
    try {
      std::rethrow_exception(cause);
    } catch (const Error& error) {
      throw LaneError(error.code(), places.lane(place).name(), task, error.what());
    } catch (const std::bad_alloc&) {
      throw LaneError(ExitCode::memory, places.lane(place).name(), task, "out of memory");
    } catch (const std::exception& error) {
      throw LaneError(ExitCode::bug, places.lane(place).name(), task, error.what());
    }
  }
  if (lost_peer != nullptr) {
    std::rethrow_exception(lost_peer);
  }
}

void Engine::Impl::add_totals(StepReport& report) {
  std::ranges::fill(totals, 0.0);
  for (const std::size_t place : places.active) {
    double* const of_place = totals.data() + totals_of_place * place;
    std::ranges::copy(sums_of_loss(*places.here[place]), of_place);
    of_place[3] = train::has_bad_gradient(*places.here[place]) ? 1.0 : 0.0;
    of_place[4] = places.here[place]->updates.redone ? 1.0 : 0.0;
  }
  if (places.ranks != nullptr) {
    // Each place's sums are those of one rank, and zeros change no bit.
    places.ranks->sum(totals);
  }
  double loss_sum = 0.0;
  std::int64_t valid = 0;
  for (std::size_t place = 0; place < places.count(); ++place) {
    const double* const of_place = totals.data() + totals_of_place * place;
    loss_sum += of_place[0];
    report.hits += std::llround(of_place[1]);
    valid += std::llround(of_place[2]);
    report.redone = report.redone || of_place[4] > 0.0;
  }
  if (const auto score = model.graph.loss().score()) {
    report.best_hits = valid * score->best;
  }
  report.loss = loss_sum / static_cast<double>(report.samples);
}

bool Engine::Impl::has_bad_gradient() const {
  for (std::size_t place = 0; place < places.count(); ++place) {
    if (totals[totals_of_place * place + 3] > 0.0) {
      return true;
    }
  }
  return false;
}

void Engine::Impl::fail_numerically(double loss) {
  std::string found;
  if (std::isfinite(loss)) {
    found = first_bad_gradient(places, model.graph);
  } else {
    // The update has left alone whatever had a bad gradient, so the step's forward can be gone
    // through once more, with a look at every output. Before that nobody looks: it would cost a
    // pass over all activations in every step.
    StepInputs again = inputs;
    again.examines = true;
    again.measures = false;
    run_round(again);
    found = first_bad_output(places, model.graph);
  }
  throw NumericError("step " + std::to_string(inputs.step) + ": the loss is " +
                     std::to_string(loss) + found +
                     ". Lower the learning rate, or look for bad values in the data; the last "
                     "checkpoint is untouched");
}

}  // namespace zygos::train
