// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/update.hpp"

#include "train/place/place_state.hpp"

#include "zygos/nn/optimizers.hpp"

#include <algorithm>
#include <utility>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

/// What an update that is speculated keeps, and what one that is made again begins from.
void add_previous(const Task& task, const TaskOperands& named, schedule::ElementRange elements,
                  nn::UpdateArgs& args) {
  args.again = task.kind == TaskKind::confirm;
  for (const Elements& operand : args.again ? named.reads : named.writes) {
    if (operand.kind == BufferKind::previous_weights) {
      args.previous_weights = operand.part(elements);
    } else if (operand.kind == BufferKind::previous_state) {
      args.previous_states.push_back(operand.part(elements));
    }
  }
}

void add_update(const PlaceState& state, TaskId id, schedule::ElementRange elements,
                const Tensor& bad, std::vector<nn::UpdateArgs>& to) {
  if (elements.count() <= 0) {
    return;
  }
  const TaskOperands& named = state.operands_of(id);
  nn::UpdateArgs args{.weights = named.write(BufferKind::weights).part(elements),
                      .gradient = {},
                      .states = {},
                      .decay_mask = {},
                      .gradient_factor = {},
                      .bad = bad};
  const BufferKind gradient =
      state.task(id).reduced ? BufferKind::reduced_gradients : BufferKind::gradients;
  args.gradient = named.read(gradient).part(elements);
  for (const Elements& operand : named.writes) {
    if (operand.kind == BufferKind::optimizer_state) {
      args.states.push_back(operand.part(elements));
    }
  }
  add_previous(state.task(id), named, elements, args);
  if (state.setup.optimizer.uses_decay()) {
    args.decay_mask = state.buffers.held(BufferKind::decay_mask, 0, elements);
  }
  to.push_back(std::move(args));
}

/// What the optimizer takes of the step, where the lane's memory has it. Statistics are updated
/// in the same way each step.
void add_scalars(const PlaceState& state, TaskId id, Update& update) {
  for (nn::UpdateArgs& args : update.trained) {
    if (!state.scalars.of_updates.empty()) {
      args.scalars = state.scalars.of_updates.at(static_cast<std::size_t>(state.task(id).update));
    }
  }
}

/// Adds what is trained of some elements and the statistics of layers.
void add_updates(const PlaceState& state, TaskId id, schedule::ElementRange all, const Tensor& bad,
                 Update& update) {
  std::int64_t begin = all.begin;
  for (const graph::Parameter& parameter : state.setup.graph.parameters()) {
    const schedule::ElementRange elements{
        std::max(parameter.offset, begin),
        std::min(parameter.offset + parameter.shape.size(), all.end)};
    if (parameter.statistic && elements.count() > 0) {
      add_update(state, id, {begin, elements.begin}, bad, update.trained);
      add_update(state, id, elements, bad, update.statistics);
      begin = elements.end;
    }
  }
  add_update(state, id, {begin, all.end}, bad, update.trained);
}

Update bind_update(const PlaceState& state, TaskId id, const Tensor& bad) {
  Update update;
  for_each_unfrozen(
      state.setup.graph, state.task(id).elements,
      [&](schedule::ElementRange elements) { add_updates(state, id, elements, bad, update); });
  add_scalars(state, id, update);
  return update;
}

/// Where a host sees what the flag of bad gradients says.
std::int32_t* staged_bad(const PlaceState& state) {
  const plan::PlannedBuffer* staged = state.buffers.find(BufferKind::staged_flag);
  return reinterpret_cast<std::int32_t*>(state.buffers.at(
      staged == nullptr ? *state.buffers.find(BufferKind::gradient_flag) : *staged));
}

}  // namespace

std::uint64_t optimizer_step(const schedule::Schedule& schedule, std::uint64_t step,
                             std::int32_t update) {
  return (step - 1) * schedule.updates.size() + static_cast<std::uint64_t>(update) + 1;
}

Updates bind_updates(const PlaceState& state) {
  Updates updates;
  updates.statistics = nn::sgd({.learning_rate = 1.0, .momentum = 0.0, .weight_decay = 0.0});
  updates.bad = state.buffers.whole(BufferKind::gradient_flag, DType::i32, Shape{1});
  for (const TaskId id : state.own_tasks()) {
    const Task& one = state.task(id);
    if (makes_version(one.kind) || one.kind == TaskKind::confirm) {
      updates.last = id;
      updates.by_task[updates.last] = bind_update(state, updates.last, updates.bad);
    }
  }
  return updates;
}

void write_decay_mask(const PlaceState& state) {
  if (!state.setup.optimizer.uses_decay()) {
    return;
  }
  for (const Elements& held : state.buffers.held(BufferKind::decay_mask)) {
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(held.range.count()), 0);
    for (const graph::Parameter& parameter : state.setup.graph.parameters()) {
      const std::int64_t begin = std::max(parameter.offset, held.range.begin);
      const std::int64_t end = std::min(parameter.offset + parameter.shape.size(), held.range.end);
      if (parameter.decay && begin < end) {
        std::fill_n(mask.begin() + (begin - held.range.begin), end - begin, std::uint8_t{1});
      }
    }
    state.lane().copy_to_lane(held.tensor.raw(), mask.data(), held.tensor.bytes(),
                              "zygos::train::decay_mask");
    state.lane().fence("zygos::train::decay_mask");
  }
}

void clear_bad_gradient(const PlaceState& state) {
  if (state.updates.bad) {
    const std::int32_t none = 0;
    state.lane().copy_to_lane(state.updates.bad.raw(), &none, sizeof(none),
                              "zygos::train::clear_bad");
    state.lane().fence("zygos::train::clear_bad");
    *staged_bad(state) = none;
  }
}

bool has_bad_gradient(const PlaceState& state) {
  return state.updates.bad && *staged_bad(state) != 0;
}

namespace {

void apply(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const schedule::Schedule& schedule = state.setup.schedule();
  const auto with = [&](const nn::Optimizer& optimizer, double rate_factor,
                        const Tensor& gradient_factor, std::vector<nn::UpdateArgs>& all) {
    for (nn::UpdateArgs& args : all) {
      args.rate_factor = rate_factor;
      args.gradient_factor = gradient_factor;
      args.compressed = compresses(schedule, state.computed.step);
      args.step = optimizer_step(schedule, state.computed.step, one.update);
      state.use.note(one, args.weights, args.gradient, args.states, args.decay_mask,
                     args.gradient_factor, args.bad, args.previous_weights, args.previous_states);
      optimizer.update(state.lane().execution(), args);
    }
  };
  Update& update = state.updates.by_task.at(id);
  const bool clips = one.clips || one.kind == TaskKind::confirm;
  with(state.setup.optimizer, state.computed.rate_factor, clips ? state.norm.factor : Tensor(),
       update.trained);
  with(*state.updates.statistics, 1.0, Tensor(), update.statistics);
}

/// Whether the norm is above its limit.
bool is_clipped(const PlaceState& state) {
  double factor = 1.0;
  state.lane().copy_to_host(&factor, state.norm.factor.raw(), sizeof(factor),
                            "zygos::train::clip_factor");
  state.lane().fence("zygos::train::clip_factor");
  return factor != 1.0;
}

}  // namespace

void run_update(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const bool learns = state.averaged_samples(one.update) > 0;  // else of an incomplete batch
  // With a factor of 1 what was speculated has every bit of the clipped update.
  const bool again = one.kind == TaskKind::confirm && learns && is_clipped(state);
  if (learns && (one.kind != TaskKind::confirm || again)) {
    apply(state, id);
  }
  state.updates.redone = state.updates.redone || again;
  if (id == state.updates.last && !state.lane().host_accessible()) {
    const Tensor& bad = state.updates.bad;
    state.use.note_bytes(one, staged_bad(state), bad.bytes());
    state.lane().copy_to_host(staged_bad(state), bad.raw(), bad.bytes(), "zygos::train::copy_bad");
  }
}

}  // namespace zygos::train
