// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a task works on, found once from the buffers that it names.
#pragma once

#include "train/place/place_buffers.hpp"

#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::train {

struct TaskOperands {
  /// Elements of the task's range in the buffers of parameters that it names, by kind and slot;
  /// a name that stands for several slots (states of the optimizer, gradients of strict mode) for
  /// each of them. Few: a search is as fast as any index.
  std::vector<Elements> reads;
  std::vector<Elements> writes;
  /// By node of the stage, of a task that names any: rows of all samples of the update, and those
  /// of the slices of the task's micro-batch.
  std::vector<Tensor> batch_statistics;
  std::vector<Tensor> own_statistics;

  /// The only ones of their kind: of sends, receives, copies. Without elements, where the task has
  /// none.
  const Elements& source() const;
  const Elements& target() const;
  /// Throws InternalError if the task names others, but not this one.
  const Elements& read(schedule::BufferKind kind, std::int32_t slot = 0) const;
  const Elements& write(schedule::BufferKind kind, std::int32_t slot = 0) const;
};

/// (rows, length) f64 of a buffer of statistics; empty if the place has no such rows.
Tensor statistics_in(const PlaceBuffers& buffers, const schedule::Buffer& buffer);

TaskOperands find_operands(const schedule::Task& task, const PlaceBuffers& buffers);

}  // namespace zygos::train
