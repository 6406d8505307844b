// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a place's samples reach it: gathered in host memory, then copied to a lane that has its own.
#include "train/gather_rows.hpp"
#include "train/place/place_runner.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace zygos::train {

using plan::Role;
using schedule::BufferKind;
using schedule::Task;

Tensor PlaceRunner::staged(const Task& one, const Tensor& tensor, plan::Role role) const {
  const auto& buffer = *buffers_.find(BufferKind::staging, 0, 0, one.micro_batch);
  return buffers_.bind(buffer, {role}, tensor.dtype(), tensor.shape());
}

void PlaceRunner::load(const Task& one) {
  const Tensors& tensors = tensors_of(one);
  if (tensors.samples.count() == 0) {
    return;
  }
  const Batch& batch = *inputs_of_call_.batch;
  const auto ids = batch.ids.subspan(static_cast<std::size_t>(tensors.samples.begin),
                                     static_cast<std::size_t>(tensors.samples.count()));
  const auto rows =
      batch.places().subspan(static_cast<std::size_t>(tensors.samples.begin), ids.size());
  const auto here = [&](const Tensor& tensor, Role role) {
    const Tensor target = setup_.lane.host_accessible() ? tensor : staged(one, tensor, role);
    use_->note(one, target);
    return target;
  };
  if (tensors.inputs) {
    gather_rows(setup_.lane, batch.inputs, rows, here(tensors.inputs, Role::model_input));
  }
  if (tensors.targets) {
    gather_rows(setup_.lane, batch.targets, rows, here(tensors.targets, Role::target));
  }
  std::ranges::copy(ids, here(tensors.ids, Role::sample_ids).data<std::uint32_t>());
}

void PlaceRunner::copy_in(const Task& one) {
  const Tensors& tensors = tensors_of(one);
  if (tensors.samples.count() == 0) {
    return;
  }
  use_->note(one, tensors.inputs, tensors.targets, tensors.ids);
  const auto& from = *buffers_.find(BufferKind::staging, 0, 0, one.micro_batch);
  const auto& to = *buffers_.find(BufferKind::inputs, 0, 0, one.micro_batch);
  if (tensors.samples.count() == one.samples.count() && from.slots == to.slots) {
    return setup_.lane.copy_to_lane(buffers_.at(to), buffers_.at(from), to.slots.used_bytes(),
                                    "zygos::train::copy_batch");
  }
  std::array<lane::CopyPiece, 3> pieces;
  std::size_t used = 0;
  for (const auto& [role, tensor] :
       {std::pair(Role::model_input, &tensors.inputs), std::pair(Role::target, &tensors.targets),
        std::pair(Role::sample_ids, &tensors.ids)}) {
    if (*tensor) {
      pieces[used++] = {tensor->raw(), staged(one, *tensor, role).raw(), tensor->bytes()};
    }
  }
  setup_.lane.copy_to_lane(std::span(pieces).first(used), "zygos::train::copy_batch");
}

}  // namespace zygos::train
