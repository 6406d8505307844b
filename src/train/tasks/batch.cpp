// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/batch.hpp"

#include "train/gather_rows.hpp"
#include "train/place/place_state.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace zygos::train {
namespace {

using plan::Role;
using schedule::BufferKind;
using schedule::Task;

/// The batch that the task brings samples of; null if it has none of these, or is the following
/// step's and nobody knows that.
const Batch* brought_by(const PlaceState& state, const Task& one) {
  const Batch* batch = state.brings_next(one) ? state.inputs.next : state.inputs.batch;
  return state.tensors_of(one).samples.count() == 0 ? nullptr : batch;
}

/// A tensor of the batch where host memory has it, in front of a lane that has its own.
Tensor staged(const PlaceState& state, const Task& one, const Tensor& tensor, Role role) {
  const auto& buffer = *state.buffers.find(BufferKind::staging, 0, 0, one.micro_batch);
  return state.buffers.bind(buffer, {role}, tensor.dtype(), tensor.shape());
}

}  // namespace

void run_load(PlaceState& state, schedule::TaskId id) {
  const Task& one = state.task(id);
  const MicroBatchTensors& tensors = state.tensors_of(one);
  const Batch* batch = brought_by(state, one);
  if (batch == nullptr) {
    return;
  }
  const auto ids = batch->ids.subspan(static_cast<std::size_t>(tensors.samples.begin),
                                      static_cast<std::size_t>(tensors.samples.count()));
  const auto rows =
      batch->places().subspan(static_cast<std::size_t>(tensors.samples.begin), ids.size());
  const auto here = [&](const Tensor& tensor, Role role) {
    const Tensor target =
        state.lane().host_accessible() ? tensor : staged(state, one, tensor, role);
    state.use.note(one, target);
    return target;
  };
  if (tensors.inputs) {
    gather_rows(state.lane(), batch->inputs, rows, here(tensors.inputs, Role::model_input));
  }
  if (tensors.targets) {
    gather_rows(state.lane(), batch->targets, rows, here(tensors.targets, Role::target));
  }
  std::ranges::copy(ids, here(tensors.ids, Role::sample_ids).data<std::uint32_t>());
}

void run_copy(PlaceState& state, schedule::TaskId id) {
  const Task& one = state.task(id);
  const MicroBatchTensors& tensors = state.tensors_of(one);
  if (brought_by(state, one) == nullptr) {
    return;
  }
  state.use.note(one, tensors.inputs, tensors.targets, tensors.ids);
  const auto& from = *state.buffers.find(BufferKind::staging, 0, 0, one.micro_batch);
  const auto slot = static_cast<std::int32_t>(state.batch_slot_of(one));
  const auto& to = *state.buffers.find(BufferKind::inputs, slot, 0, one.micro_batch);
  if (tensors.samples.count() == one.samples.count() && from.slots == to.slots) {
    return state.lane().copy_to_lane(state.buffers.at(to), state.buffers.at(from),
                                     to.slots.used_bytes(), "zygos::train::copy_batch");
  }
  std::array<lane::CopyPiece, 3> pieces;
  std::size_t used = 0;
  for (const auto& [role, tensor] :
       {std::pair(Role::model_input, &tensors.inputs), std::pair(Role::target, &tensors.targets),
        std::pair(Role::sample_ids, &tensors.ids)}) {
    if (*tensor) {
      pieces[used++] = {tensor->raw(), staged(state, one, *tensor, role).raw(), tensor->bytes()};
    }
  }
  state.lane().copy_to_lane(std::span(pieces).first(used), "zygos::train::copy_batch");
}

}  // namespace zygos::train
