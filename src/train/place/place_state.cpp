// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/place_state.hpp"

#include "train/flat_ops.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using schedule::Task;
using NodeTensors = PlaceState::NodeTensors;

void bind_tasks(PlaceState& state) {
  for (const schedule::TaskId id : state.own_tasks()) {
    const Task& one = state.task(id);
    if (one.kind == schedule::TaskKind::load) {
      state.mine[static_cast<std::size_t>(one.micro_batch)] = true;
    }
    state.operands[state.setup.tasks.index_of(id)] = find_operands(one, state.buffers);
  }
}

/// The parameters of each node in a kind and slot of buffers.
NodeTensors parameters_in(const PlaceState& state, BufferKind kind, std::int32_t slot) {
  const std::vector<Elements> held = state.buffers.held(kind, slot);
  const schedule::NodeRange& nodes = state.plan().stage.nodes;
  NodeTensors parameters;
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    auto& of_node = parameters.emplace_back();
    for (const graph::Parameter& parameter : state.setup.graph.parameters_of(node)) {
      const schedule::ElementRange elements{parameter.offset,
                                            parameter.offset + parameter.shape.size()};
      const auto found = std::ranges::find_if(held, [&](const Elements& one) {
        return one.range.begin <= elements.begin && elements.end <= one.range.end;
      });
      of_node.push_back(found == held.end() ? Tensor()
                                            : found->part(elements).reshaped(parameter.shape));
    }
  }
  return parameters;
}

/// Behind each parameter up to the next one, where gradients live within a step.
NodeTensors gaps_of_gradients(const PlaceState& state) {
  const std::span<const graph::Parameter> all = state.setup.graph.parameters();
  NodeTensors gaps(static_cast<std::size_t>(state.plan().stage.nodes.count()));
  if (!streams(state.setup.schedule(), state.setup.place)) {
    return gaps;
  }
  for (const Elements& held : state.buffers.held(BufferKind::gradients)) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t next =
          i + 1 < all.size() ? all[i + 1].offset : state.setup.graph.parameter_elements();
      const schedule::ElementRange gap{all[i].offset + all[i].shape.size(), next};
      if (gap.count() > 0 && held.range.begin <= all[i].offset && gap.end <= held.range.end) {
        gaps[state.index_of(all[i].node)].push_back(held.part(gap));
      }
    }
  }
  return gaps;
}

void bind_parameters(PlaceState& state) {
  // A stage without parameters has no such buffers, and its tasks have slots all the same.
  std::int32_t versions = state.buffers.slots_of(BufferKind::weights);
  for (const schedule::TaskId id : state.own_tasks()) {
    versions = std::max(versions, state.task(id).slot + 1);
  }
  for (std::int32_t slot = 0; slot < versions; ++slot) {
    state.parameters.push_back(parameters_in(state, BufferKind::weights, slot));
  }
  for (std::int32_t slot = 0; slot < state.plan().tree.slots; ++slot) {
    state.d_parameters.push_back(parameters_in(state, BufferKind::gradients, slot));
  }
  state.gradient_gaps = gaps_of_gradients(state);
}

/// None of a loss that the place does not compute.
std::vector<Tensor> constants_of(const PlaceState& state, std::int32_t id,
                                 const std::vector<nn::ConstantSpec>& specs) {
  std::vector<Tensor> found;
  for (const auto& spec : specs) {
    if (Tensor tensor = state.buffers.whole(BufferKind::constants, spec.dtype, spec.shape,
                                            static_cast<std::int32_t>(found.size()), id)) {
      found.push_back(std::move(tensor));
    }
  }
  return found;
}

void bind_constants(PlaceState& state) {
  const schedule::NodeRange& nodes = state.plan().stage.nodes;
  const graph::Graph& graph = state.setup.graph;
  for (auto id = nodes.begin; id < nodes.end; ++id) {
    const graph::Node& node = graph.nodes()[static_cast<std::size_t>(id)];
    state.constants.push_back(constants_of(
        state, id, node.layer->constants(node.input_shapes, state.setup.parameters())));
  }
  state.loss_constants = constants_of(state, static_cast<std::int32_t>(graph.nodes().size()),
                                      graph.loss().constants(graph.output_shape()));
}

/// The tensors of a batch of `given` samples; nothing if they are bound for as many.
void bind_samples(PlaceState& state, std::size_t slot, std::int64_t given) {
  BatchTensors& batch = state.batches[slot];
  if (batch.given == given) {
    return;
  }
  batch.given = given;
  const PlaceSetup& setup = state.setup;
  const BindingSource source{setup.graph, state.buffers,    setup.target,
                             setup.dtype, setup.schedule(), static_cast<std::int32_t>(slot)};
  for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
    if (state.mine[i]) {
      const schedule::SampleRange& planned = setup.schedule().micro_batches[i];
      batch.micro_batches[i] =
          bind_micro_batch(source, static_cast<schedule::MicroBatch>(i),
                           {std::min(planned.begin, given), std::min(planned.end, given)});
    }
  }
}

void write_constants(const lane::Lane& lane, const std::vector<Tensor>& targets,
                     const std::vector<nn::ConstantSpec>& specs) {
  std::vector<std::byte> host;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    host.resize(targets[i].bytes());
    specs[i].fill(host.data());
    lane.copy_to_lane(targets[i].raw(), host.data(), host.size(), "zygos::train::constants");
    lane.fence("zygos::train::constants");
  }
}

}  // namespace

PlaceState::PlaceState(const PlaceSetup& setup_, plan::PlaceMemory memory)
    : setup(setup_),
      buffers(std::move(memory), setup.lane, setup.place, setup.parameters()),
      use(buffers.arena(schedule::Tier::lane), buffers.arena(schedule::Tier::host)),
      operands(own_tasks().size()),
      batches(
          loads_ahead(setup.schedule(), setup.place) ? 2 : 1,
          {.micro_batches = std::vector<MicroBatchTensors>(setup.schedule().micro_batches.size())}),
      mine(setup.schedule().micro_batches.size(), false) {
  bind_tasks(*this);
  bind_parameters(*this);
  scalars = bind_step_scalars(*this);
  updates = bind_updates(*this);
  norm = bind_norm(*this);
  gathers = bind_gathers(*this);
  bind_constants(*this);
  for (std::size_t slot = 0; slot < batches.size(); ++slot) {
    bind_samples(*this, slot, setup.schedule().batch);
  }
  transfers = bind_transfers(*this);
  spills = bind_spills(*this);
}

nn::Context PlaceState::context(graph::NodeId id, const Tensor& ids) const {
  const graph::Node& node = setup.graph.nodes()[static_cast<std::size_t>(id)];
  return {setup.lane.execution(),
          node.frozen ? nn::Mode::evaluate : computed.mode,
          setup.seed,
          computed.step,
          node.stream,
          ids,
          setup.tf32,
          computed.trains() ? scalars.step : nullptr};
}

schedule::SampleRange PlaceState::carried(const schedule::Task& task) const {
  const std::int64_t first = tensors_of(task).samples.begin;
  const std::int64_t given = current().given;
  return {std::min(task.samples.begin, given) - first, std::min(task.samples.end, given) - first};
}

std::int64_t PlaceState::averaged_samples(std::int32_t update) const {
  const std::int64_t given = current().given;
  if (inputs.mode == nn::Mode::evaluate) {
    return given;
  }
  const schedule::SampleRange& all = setup.schedule().updates[static_cast<std::size_t>(update)];
  return std::min(all.end, given) - std::min(all.begin, given);
}

void begin_call(PlaceState& state, const StepInputs& inputs) {
  state.inputs = inputs;
  state.computed = inputs;
  if (inputs.trains()) {
    fill_step_scalars(state);
  }
  state.first_bad = -1;
  state.updates.redone = false;
  state.use.begin(inputs.measures);
  bind_samples(state, state.batch_slot, inputs.batch->samples());
  if (inputs.next != nullptr && state.next_slot() != state.batch_slot) {
    bind_samples(state, state.next_slot(), inputs.next->samples());
  }
}

void turn_to_next(PlaceState& state) { state.batch_slot = state.next_slot(); }

void write_constants(const PlaceState& state) {
  const schedule::NodeRange& nodes = state.plan().stage.nodes;
  const graph::Graph& graph = state.setup.graph;
  for (auto id = nodes.begin; id < nodes.end; ++id) {
    const graph::Node& node = graph.nodes()[static_cast<std::size_t>(id)];
    write_constants(state.lane(), state.constants[state.index_of(id)],
                    node.layer->constants(node.input_shapes, state.setup.parameters()));
  }
  if (!state.loss_constants.empty()) {
    write_constants(state.lane(), state.loss_constants,
                    graph.loss().constants(graph.output_shape()));
  }
}

void zero_gradients(const PlaceState& state) {
  for (std::int32_t slot = 0; slot < state.buffers.slots_of(BufferKind::gradients); ++slot) {
    for (const Elements& elements : state.buffers.held(BufferKind::gradients, slot)) {
      fill_with_zeros(state.lane().execution(), elements.tensor);
    }
  }
}

BufferKind gradient_kind(const PlaceState& state) {
  return state.buffers.slots_of(BufferKind::reduced_gradients) > 0 ? BufferKind::reduced_gradients
                                                                   : BufferKind::gradients;
}

std::vector<Tensor> predictions(const PlaceState& state) {
  std::vector<Tensor> out;
  const std::vector<MicroBatchTensors>& all = state.current().micro_batches;
  for (std::size_t i = 0; i < all.size() && state.plan().stage.is_last; ++i) {
    if (state.mine[i]) {
      out.push_back(all[i].outputs.back());
    }
  }
  return out;
}

}  // namespace zygos::train
