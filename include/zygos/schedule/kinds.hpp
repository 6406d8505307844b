// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks, buffers and payloads, and one table with everything that others ask of a
// kind: builder, validator, memory plan, cost model, engine, trace and printer read it. A new kind
// is a row here, a rule of the builder and a function of the engine (docs/add_a_task_kind.md).
#pragma once

#include "zygos/memory/category.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace zygos::schedule {

/// A place works through four queues side by side, each in the order of the schedule's list: its
/// kernels, what it sends, what it receives, and what it writes to its file and reads from it. So a
/// transfer costs no time as long as there is something to compute. The file is one queue, because
/// reads and writes share a disk.
enum class Queue : std::uint8_t { compute, outgoing, incoming, file };
inline constexpr std::size_t queue_count = 4;
std::string_view name_of(Queue queue);

enum class TaskKind : std::uint8_t {
  load,        ///< gather the task's samples into host staging (or straight into a host lane)
  copy,        ///< host staging -> lane memory, over the lane's link
  forward,     ///< the task's nodes, in order
  recompute,   ///< forward once more, because its activations were not kept
  loss,        ///< losses, hits and the gradient of the prediction
  backward,    ///< the task's nodes, in reverse order
  send,        ///< a buffer of this place -> a message that one other place reads
  broadcast,   ///< the same, for all others
  receive,     ///< a message -> memory of this place
  reduce,      ///< a message is added to this place's part of the gradient
  all_reduce,  ///< sum of all places' messages, in place order, into the reduced gradient
  statistics,  ///< what a layer's statistics over a batch are computed from, of these samples
  all_gather,  ///< the statistics of all samples of an update, from all places
  squares,     ///< sums of the squares of this place's gradient
  norm,        ///< all places' squares -> the norm of the whole gradient
  compress,    ///< a part of the gradient becomes what is exchanged of it, in one bit an element
  update,      ///< optimizer step on this place's weights; produces the next version
  speculate,   ///< the same before the norm is known, as if it were below the limit; what it
               ///< overwrites is kept
  confirm,     ///< once the norm is known: an update that was speculated stands, or is undone and
               ///< made again with the clipped gradient
  stash,       ///< keeps a copy of the current weights for backward passes still to come
  offload,     ///< copies the current weights to host memory, where they rest, or on the way to the
               ///< file
  fetch,       ///< copies weights from where they rest into slot 1 of the lane
  offload_activations,  ///< copies activations of a segment to host memory
  fetch_activations,    ///< copies them back into slot 1 of the lane
  write_activations,    ///< activations of a segment -> the place's file
  read_activations,     ///< and back: into slot 1 of the lane, or of host memory in front of it
  write_states,         ///< optimizer states of a part -> the place's file
  read_states,          ///< and back, for the part's update
  write_weights,        ///< the current weights -> the place's file
  read_weights,         ///< and back: into slot 1 of the lane, or to host memory in front of it
  average,              ///< current weights become the mean of all versions that are kept
};
inline constexpr std::size_t task_kind_count = static_cast<std::size_t>(TaskKind::average) + 1;

enum class BufferKind : std::uint8_t {
  batch,     ///< the caller's samples, host memory
  staging,   ///< gathered samples in host memory
  inputs,    ///< gathered samples in lane memory: model inputs, targets, ids, as the stage needs;
             ///< slot 0: of this step, 1: of the next one, where batches are loaded ahead
  boundary,  ///< outputs of earlier stages that this one reads
  activations,       ///< outputs inside the stage (and what layers keep for backward)
  outputs,           ///< outputs that later stages or the caller read
  scratch,           ///< slot 0: gradients inside the stage and workspace, for one backward pass;
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
  optimizer_state,      ///< by part where parts have owners
  previous_weights,     ///< what an update that is speculated has overwritten
  previous_state,       ///< likewise, of the optimizer's states
  resting_activations,  ///< activations of a segment in host memory, between forward and backward;
                        ///< those that go on to a file: slot 0 on the way there, 1 on the way back
  spilled_activations,  ///< activations of a segment in the place's file
  spilled_state,        ///< optimizer states in the place's file, by part
  compression_error,    ///< what compressing a worker's part has left out, by part
  sum_error,            ///< what compressing the sum of a part has left out, of its owner
  stashed_weights,      ///< a version of the weights that rests in host memory, by slot; slot 1: or
                        ///< one on its way to the file or back
  spilled_weights,      ///< a version of the weights in the place's file, by slot
  constants,            ///< what layers read, not trained; part: the node
  decay_mask,           ///< which parameters decay
  landing,              ///< where a peer's part of the gradient arrives before it is added
  coded_message,        ///< a message as it travels, in lane memory; slot: the queue it is for
  gradient_flag,        ///< (1) i32: an update's gradient was not finite
  loss_totals,          ///< (micro-batches, nn::loss_totals) f64
  staged_flag,          ///< copy of gradient_flag in host memory
  staged_totals,        ///< copy of loss_totals in host memory
  step_scalars,         ///< of recorded steps: u64 the step, (updates, nn::update_scalars) f64
  staged_scalars,       ///< what step_scalars is copied from, in host memory
};
inline constexpr std::size_t buffer_kind_count =
    static_cast<std::size_t>(BufferKind::staged_scalars) + 1;

/// What a message carries.
enum class Payload : std::uint8_t {
  none,
  activations,           ///< outputs of the sender's stage for a later one
  activation_gradients,  ///< gradients of these, for an earlier one
  gradients,             ///< a part of the sender's gradient
  weights,               ///< the sender's current weights
  statistics,            ///< of all samples of the sender's that an update averages over
  squares,               ///< all sums of squares that the sender has computed
};
inline constexpr std::size_t payload_count = static_cast<std::size_t>(Payload::squares) + 1;

// ---------------------------------------------------------------- operands

/// Which buffers of a kind a task reads or writes.
enum class Extent : std::uint8_t {
  caller,               ///< the one that belongs to nobody
  place,                ///< the place's only one
  micro_batch,          ///< of the task's micro-batch
  segment,              ///< of the micro-batch, of the segment that has the task's nodes
  sources,              ///< of the micro-batch, of the segments that this one reads from
  node,                 ///< of the task's node and micro-batch
  update_of_node,       ///< of the task's node and update
  divided_nodes,        ///< of the update, for each of the task's nodes with divided statistics
  parts_of_task,        ///< all parts that overlap the task's elements
  parts_of_nodes,       ///< all parts that overlap the parameters of the task's nodes
  parts_owned,          ///< all parts of its gradient that the place updates
  parameters_of_task,   ///< of the task's elements: by part only where parts have owners
  parameters_of_nodes,  ///< of the parameters of the task's nodes, likewise
  kept_versions,        ///< those that the task names: check_versions() knows whether all
  gathered,             ///< those that the task names: check_statistics() knows whether all
};

/// Conditions of an operand: it counts where the schedule and the task fulfil all of them.
enum class Fact : std::uint16_t {
  host_accessible = 1U << 0U,    ///< the place reads host memory itself
  staged = 1U << 1U,             ///< it does not
  has_boundary = 1U << 2U,       ///< its stage reads outputs of earlier ones
  made = 1U << 3U,               ///< earlier nodes of the stage have been computed
  segment_made = 1U << 15U,      ///< earlier nodes of the segment have been
  of_gradients = 1U << 4U,       ///< works on gradients
  later_nodes = 1U << 5U,        ///< later nodes of the stage have gradients already
  own_gradients = 1U << 6U,      ///< gradients of the stage's outputs exist
  passing_gradients = 1U << 7U,  ///< gradients of its inputs come from later stages, too
  accumulates = 1U << 8U,        ///< adds to the gradient of earlier micro-batches
  sends_gradients = 1U << 9U,    ///< earlier stages wait for gradients of its inputs
  reduced = 1U << 10U,           ///< takes the reduced gradient
  unreduced = 1U << 11U,         ///< takes the place's own gradient
  clips = 1U << 12U,             ///< scales the gradient by its norm
  peer_has_own = 1U << 13U,      ///< the message holds gradients of the stage's outputs
  peer_has_passing = 1U << 14U,  ///< the message holds gradients of the stage's inputs
};
using Facts = std::uint16_t;
constexpr Facts facts(std::initializer_list<Fact> all) {
  unsigned mask = 0;
  for (const Fact fact : all) {
    mask |= static_cast<unsigned>(fact);
  }
  return static_cast<Facts>(mask);
}

/// Slot of an operand that is not a number: the task's own; that of activations as backward finds
/// them (1 after a recompute or a fetch); 1 for statistics of gradients; that of activations in
/// host memory as a fetch finds them (1 if they come from a file); that of the batch which load and
/// copy bring (1 if it is the next step's).
inline constexpr std::int8_t slot_of_task = -1;
inline constexpr std::int8_t slot_kept = -2;
inline constexpr std::int8_t slot_of_direction = -3;
inline constexpr std::int8_t slot_at_rest = -4;
inline constexpr std::int8_t slot_loaded = -5;

struct Operand {
  BufferKind kind = BufferKind::batch;
  Extent extent = Extent::place;
  std::int8_t slot = 0;
  Facts when = 0;
};

// ---------------------------------------------------------------- rows

/// How a task's time is found from its size.
enum class CostFamily : std::uint8_t {
  pass,       ///< curves by node, over samples
  samples,    ///< a curve over samples
  elements,   ///< a curve over elements
  staging,    ///< a curve over bytes: what brings samples to a lane
  transfer,   ///< a curve over bytes: messages, and what is computed of them as they arrive
  duplicate,  ///< a curve over bytes: copies of weights on one place
  in_pass,    ///< nothing: measured as a part of passes, or, of a confirm, done only if a norm is
              ///< above its limit
};

/// Messages that a task reads.
enum class Reads : std::uint8_t { no_message, one_message, any_messages };

/// Whether a forward pass without training keeps the task.
enum class Evaluation : std::uint8_t { left_out, kept, kept_for_activations };

/// What a task's `nodes` have to be.
enum class Nodes : std::uint8_t { none, whole_segment, part_of_segment, one_with_statistics };

/// What a task's `elements` have to be.
enum class Elements : std::uint8_t {
  none,
  whole_stage,  ///< all parameters of the stage
  updated,      ///< the stage's, or a part that the place owns where parts have owners
  carried,      ///< as the payload needs: a part, or those of the stage
  one_part,     ///< of the gradient
};

struct TaskTraits {
  TaskKind kind = TaskKind::load;
  std::string_view name = {};
  Queue queue = Queue::compute;  ///< unless the builder says otherwise
  CostFamily cost = CostFamily::in_pass;
  bool computes = false;  ///< arithmetic, which a lane's slow-down factor stretches
  Reads messages = Reads::no_message;
  bool sends = false;          ///< writes one message
  bool names_peer = false;     ///< `peer` is one other place, not all
  bool of_samples = false;     ///< works on a micro-batch, whatever it carries
  bool of_update = false;      ///< belongs to one of Schedule::updates, whatever it carries
  bool shows_version = false;  ///< its printed name ends with the version of the weights
  Evaluation evaluation = Evaluation::left_out;
  Nodes nodes = Nodes::none;
  Elements elements = Elements::none;
  bool lands = false;  ///< adds what a message holds, which has to be in lane memory for it
  std::span<const Payload> payloads = {};    ///< that it may carry; none: it carries nothing
  std::span<const TaskKind> priced_as = {};  ///< kinds whose costs stand in for its own, in order
  std::span<const Operand> reads = {};   ///< in this order; senders read a payload's source, too
  std::span<const Operand> writes = {};  ///< receivers of one message write its target, too
};
const TaskTraits& traits_of(TaskKind kind);

/// How long a buffer's content is needed.
enum class Lifetime : std::uint8_t { task, step, run };
/// Where a buffer rests: memory of the lane, host memory beside it, a file.
enum class Tier : std::uint8_t { lane, host, file };

struct BufferTraits {
  BufferKind kind = BufferKind::batch;
  std::string_view name = {};
  Lifetime lifetime = Lifetime::step;
  Tier tier = Tier::lane;
  memory::Category category = memory::Category::activations;
  bool of_samples = false;     ///< one for each micro-batch
  bool for_node = false;       ///< `part` is a node
  bool of_elements = false;    ///< a value for each element of a range of the flat parameters
  bool slots_as_one = false;   ///< tasks name slot 0 for all: the optimizer's states, partial sums
  bool by_part = false;        ///< `part` is one of Schedule::parts
  bool by_segment = false;     ///< `part` is one of Schedule::segments; part 0 is not printed
  bool by_owner = false;       ///< by part only where parts have owners; part 0 is not printed
  bool exists_before = false;  ///< holds something before the first task of a step, in slot 0
  bool written_once = false;   ///< in a step
};
const BufferTraits& traits_of(BufferKind kind);

struct PayloadTraits {
  Payload payload = Payload::none;
  std::string_view name = {};
  bool of_samples = false;               ///< belongs to a micro-batch
  bool of_elements = false;              ///< a range of the flat parameters
  bool of_update = false;                ///< belongs to one of Schedule::updates
  bool along_links = false;              ///< goes between stages, where the schedule's links say
  bool across_stages = false;            ///< goes from any stage to any other; else within one
  bool read_in_place = false;            ///< of a host-accessible sender no copy is made
  std::span<const Operand> source = {};  ///< what sending reads
  std::span<const Operand> target = {};  ///< what receiving writes
};
const PayloadTraits& traits_of(Payload payload);

inline std::string_view name_of(TaskKind kind) { return traits_of(kind).name; }
inline std::string_view name_of(BufferKind kind) { return traits_of(kind).name; }
inline std::string_view name_of(Payload payload) { return traits_of(payload).name; }

std::span<const TaskTraits> all_task_kinds();
std::span<const BufferTraits> all_buffer_kinds();

/// Forward or backward over nodes.
constexpr bool is_pass(TaskKind kind) {
  return kind == TaskKind::forward || kind == TaskKind::recompute || kind == TaskKind::backward;
}
/// True for tasks that make the next version of weights.
constexpr bool makes_version(TaskKind kind) {
  return kind == TaskKind::update || kind == TaskKind::speculate;
}
/// True for tasks that read what any number of places have sent.
inline bool reads_several(TaskKind kind) { return traits_of(kind).messages == Reads::any_messages; }
inline bool reads_messages(TaskKind kind) { return traits_of(kind).messages != Reads::no_message; }
inline bool writes_messages(TaskKind kind) { return traits_of(kind).sends; }

}  // namespace zygos::schedule
