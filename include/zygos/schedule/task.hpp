// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/codec.hpp"
#include "zygos/schedule/kinds.hpp"
#include "zygos/schedule/ranges.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
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

/// Identity of a buffer: what, where, and for which micro-batch, slot or part.
struct Buffer {
  BufferKind kind = BufferKind::batch;
  Place place = 0;
  MicroBatch micro_batch = 0;  ///< of samples and everything computed from them;
                               ///< batch_statistics: index into Schedule::updates
  std::int32_t slot = 0;       ///< weights: 0 or the stash's slot; activations: 1 if recomputed
                               ///< or fetched
  std::int32_t part = 0;       ///< gradients: index into Schedule::parts; message: its number;
                               ///< statistics: the node that they are for; activations: index
                               ///< into Schedule::segments
  friend auto operator<=>(const Buffer&, const Buffer&) = default;
  // Said apart: nvcc declares the equality that comes with the line above, but does not define it.
  friend bool operator==(const Buffer&, const Buffer&) = default;
};
/// "activations@device mb 2", "gradients@host part 1", "weights@host slot 2", "message 7@host",
/// "statistics@host node 3 mb 0"; "batch" for the caller's samples. Of weights and states, "part 0"
/// is left out.
std::string text_of(const Buffer& buffer, const std::vector<std::string>& places);

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
  Codec codec = Codec::exact;  ///< of the messages that it writes or reads
  Place peer = -1;             ///< send: to; receive, reduce: from; -1: all others
  bool local = false;          ///< send, receive of samples: between places of one lane, so the
                               ///< message is in the lane's memory and no link is used
  ElementRange elements;       ///< gradients and weights that are moved, reduced, squared, updated,
                               ///< stashed
  bool keeps = true;           ///< forward: activations stay for backward
  bool recomputed = false;     ///< backward, its statistics: on what recompute has made
  bool accumulates = false;    ///< backward: adds to the gradient of earlier micro-batches
  bool reduced = false;  ///< update, squares: takes the reduced gradient; compress: the sum of what
                         ///< workers sent
  bool clips = false;    ///< update: scales the gradient by its norm
  bool of_gradients = false;  ///< statistics and their transfers: of what backward works on
  TaskId not_before = -1;  ///< must have ended before, though they share no buffer: what limits how
                           ///< far copies of activations run ahead, and so their memory
  std::int32_t every = 1;  ///< average: done at the end of every so many steps
  std::int64_t bytes = 0;  ///< that it moves, as coded; computing tasks: 0
  std::int64_t exact_bytes = 0;        ///< of codec one_bit: that it moves until compression begins
  std::vector<TaskId> after;           ///< must have ended before this one starts
  std::vector<TaskId> after_previous;  ///< likewise, of the step before: see Schedule::barrier
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
};
/// Queues of all places, numbered.
inline std::size_t line_of(const Task& task) {
  return static_cast<std::size_t>(task.place) * queue_count + static_cast<std::size_t>(task.queue);
}

}  // namespace zygos::schedule
