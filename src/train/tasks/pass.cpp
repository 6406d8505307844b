// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/pass.hpp"

#include "train/flat_ops.hpp"
#include "train/place/place_state.hpp"
#include "train/place/places.hpp"
#include "train/tasks/examine.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>
#include <vector>

namespace zygos::train {

using schedule::BufferKind;
using schedule::Task;
using schedule::TaskId;

void run_forward(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto& statistics = state.operands_of(id).batch_statistics;
  const auto& parameters = state.parameters_of(one);
  for (const SliceTensors& slice : state.tensors_of(one).slices) {
    const auto& passes =
        one.kind == schedule::TaskKind::recompute ? slice.recompute : slice.forward;
    for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
      const std::size_t index = state.index_of(node);
      const NodePass& pass = passes[index];
      const auto& constants = state.constants[index];
      const Tensor of_batch = statistics.empty() ? Tensor() : statistics[index];
      state.use.note(one, slice.ids, pass, parameters[index], constants, of_batch);
      state.layer(node).forward(
          state.context(node, slice.ids),
          {pass.inputs, parameters[index], pass.workspace, pass.output, constants, of_batch});
      if (state.inputs.examines) {
        examine(state, node, pass.output);
      }
    }
  }
}

/// The model's output for the samples of a micro-batch, to the caller's rows of the whole batch.
void keep_prediction(const PlaceState& state, const Tensor& prediction, std::int64_t first) {
  std::vector<std::byte> host(prediction.bytes());
  state.lane().copy_to_host(host.data(), prediction.raw(), host.size(),
                            "zygos::train::keep_prediction");
  state.lane().fence("zygos::train::keep_prediction");
  const std::vector<double> values = doubles_of(host, prediction.dtype());
  const auto width = static_cast<std::size_t>(state.setup.graph.output_shape().size());
  const auto rows = state.inputs.predictions.subspan(static_cast<std::size_t>(first) * width);
  std::ranges::copy(values, rows.begin());
}

void run_loss(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  nn::LossArgs args = state.tensors_of(one).loss;
  args.constants = state.loss_constants;
  if (!state.inputs.trains()) {
    // Evaluation has no use for the prediction's gradient; an empty tensor says so.
    args.d_prediction = Tensor();
  }
  state.use.note(one, args.prediction, args.target, args.sample_losses, args.sample_hits,
                 args.d_prediction, args.totals, state.loss_constants);
  state.setup.graph.loss().evaluate(state.lane().execution(), args,
                                    state.averaged_samples(one.update));
  if (const auto samples = state.tensors_of(one).samples;
      !state.inputs.predictions.empty() && samples.count() > 0) {
    keep_prediction(state, args.prediction, samples.begin);
  }
  if (!state.lane().host_accessible()) {
    const auto offset = static_cast<std::size_t>(one.micro_batch) * args.totals.bytes();
    std::byte* const staged =
        state.buffers.at(*state.buffers.find(BufferKind::staged_totals)) + offset;
    state.use.note_bytes(one, staged, args.totals.bytes());
    state.lane().copy_to_host(staged, args.totals.raw(), args.totals.bytes(),
                              "zygos::train::copy_totals");
  }
}

namespace {

void zero_all(const lane::Execution& execution, const std::vector<Tensor>& d_parameters) {
  for (const Tensor& d_parameter : d_parameters) {
    fill_with_zeros(execution, d_parameter);
  }
}

void zero_gradients_of(const PlaceState& state, schedule::NodeRange nodes, std::int32_t slot) {
  const auto& d_parameters = state.d_parameters[static_cast<std::size_t>(slot)];
  for (auto node = nodes.begin; node < nodes.end; ++node) {
    zero_all(state.lane().execution(), d_parameters[state.index_of(node)]);
  }
}

void zero_gaps(PlaceState& state, const Task& one) {
  for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
    for (const Tensor& gap : state.gradient_gaps[state.index_of(node)]) {
      state.use.note(one, gap);
      fill_with_zeros(state.lane().execution(), gap);
    }
  }
}

/// Slice number `number` of the task's micro-batch. The gradient of what is frozen is zero,
/// whatever the layer does to it.
void run_slice(PlaceState& state, TaskId id, std::size_t number,
               const PlaceState::NodeTensors& d_parameters, bool accumulates) {
  const Task& one = state.task(id);
  const SliceTensors& slice = state.tensors_of(one).slices[number];
  const TaskOperands& named = state.operands_of(id);
  const auto slice_number = static_cast<std::int64_t>(number);
  const auto& parameters = state.parameters_of(one);
  for (auto node = one.nodes.end; node-- > one.nodes.begin;) {
    const std::size_t index = state.index_of(node);
    const NodeBackward& bound = slice.backward[index];
    const bool frozen = state.is_frozen(node);
    if (frozen && !bound.runs && !accumulates) {
      state.use.note(one, d_parameters[index]);
      zero_all(state.lane().execution(), d_parameters[index]);
    }
    if (!bound.runs) {
      continue;
    }
    const Tensor of_batch =
        named.batch_statistics.empty() ? Tensor() : named.batch_statistics[index];
    const Tensor own = named.own_statistics.empty()
                           ? Tensor()
                           : rows_of(named.own_statistics[index], slice_number, 1);
    const auto& constants = state.constants[index];
    state.use.note(one, slice.ids, bound, parameters[index], d_parameters[index], constants,
                   of_batch, own);
    state.layer(node).backward(
        state.context(node, slice.ids),
        {bound.pass.inputs, parameters[index], bound.pass.workspace, bound.pass.output,
         bound.d_output, bound.d_inputs, d_parameters[index], accumulates,
         state.averaged_samples(update_of(state.setup.schedule(), one.samples)), constants,
         of_batch, own, !frozen});
    if (frozen) {
      zero_all(state.lane().execution(), d_parameters[index]);
    }
    for (const auto& [part, whole] : bound.added) {
      add_to(state.lane().execution(), whole, part);
    }
  }
}

/// Adds partial sums of the gradient, as the tree of strict mode says.
void merge(PlaceState& state, const Task& one, std::int32_t into_slot, std::int32_t from_slot) {
  const auto& into = state.d_parameters[static_cast<std::size_t>(into_slot)];
  const auto& from = state.d_parameters[static_cast<std::size_t>(from_slot)];
  for (auto node = one.nodes.begin; node < one.nodes.end; ++node) {
    const std::size_t index = state.index_of(node);
    state.use.note(one, into[index], from[index]);
    for (std::size_t k = 0; k < into[index].size(); ++k) {
      add_to(state.lane().execution(), into[index][k], from[index][k]);
    }
  }
}

/// Strict mode: chunk by chunk, summed as the tree says.
void run_chunks(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const std::int64_t chunk = state.setup.schedule().chunk;
  const auto& slices = state.tensors_of(one).slices;
  const auto planned = schedule::slices_of(one.samples, chunk);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto& leaf = state.plan().tree.leaves.at(planned[i].begin / chunk);
    if (i < slices.size()) {
      run_slice(state, id, i, state.d_parameters[static_cast<std::size_t>(leaf.slot)], false);
    } else {
      zero_gradients_of(state, one.nodes, leaf.slot);
    }
    for (const auto& [into, from] : leaf.merges) {
      merge(state, one, into, from);
    }
  }
}

}  // namespace

void run_backward(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto& slices = state.tensors_of(one).slices;
  if (state.setup.schedule().chunk > 0) {
    return run_chunks(state, id);
  }
  if (!one.accumulates) {
    zero_gaps(state, one);
  }
  if (slices.empty() && !one.accumulates) {
    return zero_gradients_of(state, one.nodes, 0);
  }
  for (std::size_t i = 0; i < slices.size(); ++i) {
    run_slice(state, id, i, state.d_parameters.front(), one.accumulates);
  }
}

std::array<double, nn::loss_totals> sums_of_loss(const PlaceState& state) {
  std::array<double, nn::loss_totals> sums{};
  const plan::PlannedBuffer* planned = state.buffers.find(
      state.lane().host_accessible() ? BufferKind::loss_totals : BufferKind::staged_totals);
  if (planned == nullptr) {
    return sums;
  }
  const auto* totals = reinterpret_cast<const double*>(state.buffers.at(*planned));
  for (std::size_t i = 0; i < state.mine.size(); ++i) {
    for (std::size_t which = 0; which < sums.size(); ++which) {
      sums[which] += state.mine[i] ? totals[sums.size() * i + which] : 0.0;
    }
  }
  return sums;
}

}  // namespace zygos::train
