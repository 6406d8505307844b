// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/ranges.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::schedule {

/// Index of a place in its schedule. A place is whatever works through tasks and has memory of its
/// own: a lane, an in-process worker, a device, a lane of another MPI rank. It holds one stage.
using Place = std::int32_t;
/// Index of a task in its schedule.
using TaskId = std::int32_t;
/// Index of a stage, a contiguous range of graph nodes, in Schedule::stages.
using Stage = std::int32_t;
/// Index into Schedule::micro_batches.
using MicroBatch = std::int32_t;
/// Updates that a place's weights have had since the step began.
using Version = std::int32_t;

/// A place works through three queues side by side, each in the order of the schedule's list: its
/// kernels, what it sends and what it receives. So a transfer costs no time as long as there is
/// something to compute.
enum class Queue : std::uint8_t { compute, outgoing, incoming };
inline constexpr std::size_t queue_count = 3;
std::string_view name_of(Queue queue);

enum class TaskKind : std::uint8_t {
  load,        ///< gather the task's samples into host staging (or straight into a host lane)
  copy,        ///< host staging -> lane memory, over the lane's link
  forward,     ///< the task's nodes, in order
  recompute,   ///< forward once more, because its activations were not kept
  loss,        ///< losses, hits and the gradient of the prediction
  backward,    ///< the task's nodes, in reverse order
  send,        ///< something of this place -> a message that one other place reads
  broadcast,   ///< the same, for all others
  receive,     ///< a message -> memory of this place
  reduce,      ///< a message is added to this place's part of the gradient
  all_reduce,  ///< sum of all places' messages, in place order, into the reduced gradient
  statistics,  ///< what a layer's statistics over a batch are made of, of these samples
  all_gather,  ///< the statistics of all samples of an update, from all places
  squares,     ///< sums of the squares of this place's gradient
  norm,        ///< all places' squares -> the norm of the whole gradient
  update,      ///< optimizer step on this place's weights; makes the next version
  stash,       ///< keeps a copy of the current weights for backward passes still to come
  fetch,       ///< brings stashed weights back from where they were kept
  average,     ///< current weights become the mean of all versions that are kept
};
std::string_view name_of(TaskKind kind);
/// Forward or backward over nodes.
constexpr bool is_pass(TaskKind kind) {
  return kind == TaskKind::forward || kind == TaskKind::recompute || kind == TaskKind::backward;
}

enum class BufferKind : std::uint8_t {
  batch,        ///< the caller's samples, host memory
  staging,      ///< gathered samples in host memory
  inputs,       ///< gathered samples in lane memory: model inputs, targets, ids, as the stage needs
  boundary,     ///< outputs of earlier stages that this one reads
  activations,  ///< outputs inside the stage (and what layers keep for backward)
  outputs,      ///< outputs that later stages or the caller read
  scratch,      ///< slot 0: gradients inside the stage and workspace, for one backward pass;
                ///< slot 1: workspace of one forward pass
  output_gradients,  ///< of what later stages read, or of the prediction
  input_gradients,   ///< of `boundary`, to be sent to earlier stages
  message,           ///< on its way between places, in host memory
  gradients,         ///< this place's part of a gradient, by element range
  reduced_gradients,
  statistics,        ///< of a micro-batch, for one node; slot 1: of gradients
  batch_statistics,  ///< the same, of all samples that an update averages over
  squares,           ///< sums of the squares of a gradient, by part
  norm,              ///< of the gradient of the whole model, as an update takes it
  weights,  ///< slot 0: the current version; others: stashed ones; by part where parts have owners
  optimizer_state,  ///< by part where parts have owners
};
std::string_view name_of(BufferKind kind);

/// Identity of a buffer: what, where, and for which micro-batch, slot or part.
struct Buffer {
  BufferKind kind = BufferKind::batch;
  Place place = 0;
  MicroBatch micro_batch = 0;  ///< of samples and everything computed from them;
                               ///< batch_statistics: index into Schedule::updates
  std::int32_t slot = 0;       ///< weights: 0 or the stash's slot; activations: 1 if recomputed
  std::int32_t part = 0;       ///< gradients: index into Schedule::parts; message: its number;
                               ///< statistics: the node that they are for
  friend auto operator<=>(const Buffer&, const Buffer&) = default;
  // Said apart: nvcc declares the equality that comes with the line above, but does not define it.
  friend bool operator==(const Buffer&, const Buffer&) = default;
};
/// "activations@device mb 2", "gradients@host part 1", "weights@host slot 2", "message 7@host",
/// "statistics@host node 3 mb 0"; "batch" for the caller's samples. Of weights and states, "part 0"
/// is left out.
std::string text_of(const Buffer& buffer, const std::vector<std::string>& places);

/// What a message carries.
enum class Payload : std::uint8_t {
  none,
  activations,           ///< outputs of the sender's stage for a later one
  activation_gradients,  ///< gradients of these, for an earlier one
  gradients,             ///< a part of the sender's gradient
  weights,               ///< the sender's current weights
  statistics,            ///< of all samples of the sender's that an update averages over
  squares,               ///< all that the sender has summed up
};
std::string_view name_of(Payload payload);

struct Task {
  TaskKind kind = TaskKind::forward;
  Place place = 0;
  Queue queue = Queue::compute;
  NodeRange nodes;      ///< forward, recompute, backward; statistics and their transfers: of whom
  SampleRange samples;  ///< load, copy, forward, recompute, loss, backward, statistics, transfers
                        ///< of those
  MicroBatch micro_batch = 0;  ///< whose samples these are
  Version version = 0;  ///< forward, recompute, backward: weights used; update: made; stash: kept
  std::int32_t update = 0;  ///< loss, statistics, squares, norm, update: which of
                            ///< Schedule::updates they belong to
  std::int32_t slot = 0;    ///< forward to backward, stash, fetch: slot of the weights
  Payload payload = Payload::none;
  Place peer = -1;            ///< send: to; receive, reduce: from; -1: all others
  ElementRange elements;      ///< gradients and weights that are moved, reduced, squared, updated,
                              ///< stashed
  bool keeps = true;          ///< forward: activations stay for backward
  bool accumulates = false;   ///< backward: adds to the gradient of earlier micro-batches
  bool reduced = false;       ///< update, squares: takes the reduced gradient
  bool clips = false;         ///< update: scales the gradient by its norm
  bool of_gradients = false;  ///< statistics and their transfers: of what backward works on
  std::int32_t every = 1;     ///< average: done at the end of every so many steps
  std::int64_t bytes = 0;     ///< that it moves; computing tasks: 0
  std::vector<TaskId> after;  ///< must have ended before this one starts
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
};
/// Queues of all places, numbered.
inline std::size_t line_of(const Task& task) {
  return static_cast<std::size_t>(task.place) * queue_count + static_cast<std::size_t>(task.queue);
}

}  // namespace zygos::schedule
