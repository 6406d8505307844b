// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a place's samples reach it: gathered in host memory, then copied to a lane that has its own.
#include "train/gather_rows.hpp"
#include "train/place_runner.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace zygos::train {

using schedule::BufferKind;
using schedule::Task;

Tensor PlaceRunner::staged(const Task& one, const Tensor& tensor, std::size_t index) const {
  // Staging has the layout of the inputs.
  const auto& buffer = memory_.buffers.at({BufferKind::staging, one.place, one.micro_batch});
  return {staging_.at(buffer.piece) + buffer.offset + buffer.tensors[index], tensor.dtype(),
          tensor.shape()};
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
  const auto here = [&](const Tensor& tensor, std::size_t index) {
    return setup_.lane.host_accessible() ? tensor : staged(one, tensor, index);
  };
  if (tensors.inputs) {
    gather_rows(setup_.lane, batch.inputs, rows, here(tensors.inputs, 0));
  }
  if (tensors.targets) {
    gather_rows(setup_.lane, batch.targets, rows, here(tensors.targets, 1));
  }
  std::ranges::copy(ids, here(tensors.ids, 2).data<std::uint32_t>());
}

void PlaceRunner::copy_in(const Task& one) {
  const Tensors& tensors = tensors_of(one);
  if (tensors.samples.count() == 0) {
    return;
  }
  const auto& from = memory_.buffers.at({BufferKind::staging, one.place, one.micro_batch});
  const auto& to = memory_.buffers.at({BufferKind::inputs, one.place, one.micro_batch});
  if (tensors.samples.count() == one.samples.count()) {
    // One block: inputs, targets and ids lie in the same order at the same distances on both sides.
    return setup_.lane.copy_to_lane(
        arena_.at(to.piece) + to.offset, staging_.at(from.piece) + from.offset,
        to.tensors[2] + tensors.ids.bytes(), "zygos::train::copy_batch");
  }
  std::array<lane::CopyPiece, 3> pieces;
  std::size_t used = 0;
  std::size_t index = 0;
  for (const Tensor* tensor : {&tensors.inputs, &tensors.targets, &tensors.ids}) {
    if (*tensor) {
      pieces[used++] = {tensor->raw(), staged(one, *tensor, index).raw(), tensor->bytes()};
    }
    ++index;
  }
  setup_.lane.copy_to_lane(std::span(pieces).first(used), "zygos::train::copy_batch");
}

}  // namespace zygos::train
