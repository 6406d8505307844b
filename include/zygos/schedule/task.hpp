// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::schedule {

/// Index of a lane in the run's lane set.
using Place = std::int32_t;
/// Index of a task in its schedule.
using TaskId = std::int32_t;

enum class TaskKind : std::uint8_t {
  load,        ///< gather the task's samples into host staging (or straight into a host lane)
  copy,        ///< host staging -> lane memory, over the lane's link
  forward,     ///< the task's nodes, in order
  loss,        ///< losses, hits and the gradient of the prediction
  backward,    ///< the task's nodes, in reverse order
  send,        ///< this place's gradient -> host memory that every place may read
  all_reduce,  ///< sum of all places' gradients, in place order, into this place's reduced gradient
  update,      ///< optimizer step on this place's replica
};
std::string_view name_of(TaskKind kind);

/// Half-open range of samples of the global batch.
struct SampleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

/// Half-open range of graph nodes.
struct NodeRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};

/// "3-7", as messages and printed schedules show ranges.
std::string text_of(const SampleRange& samples);
std::string text_of(const NodeRange& nodes);

enum class BufferKind : std::uint8_t {
  batch,        ///< the caller's samples, host memory
  staging,      ///< gathered samples in host memory
  inputs,       ///< gathered samples in lane memory
  activations,  ///< outputs of the nodes (and what layers keep for backward)
  prediction_gradient,
  gradients,       ///< this place's part of the gradient
  sent_gradients,  ///< the same where every place may read it
  reduced_gradients,
  weights,
  optimizer_state,
};
std::string_view name_of(BufferKind kind);

/// Identity of a buffer: what, where, for which micro-batch and weight version.
struct Buffer {
  BufferKind kind = BufferKind::batch;
  Place place = 0;
  std::int32_t micro_batch = 0;
  std::int32_t version = 0;
  friend auto operator<=>(const Buffer&, const Buffer&) = default;
};
/// "activations@device mb0 v0", as messages print it; "batch" for the caller's samples.
std::string text_of(const Buffer& buffer, const std::vector<std::string>& places);

struct Task {
  TaskKind kind = TaskKind::forward;
  Place place = 0;
  NodeRange nodes;
  SampleRange samples;
  std::int32_t micro_batch = 0;
  std::int32_t version = 0;
  std::vector<TaskId> after;  ///< must have ended before this one starts
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
};

}  // namespace zygos::schedule
