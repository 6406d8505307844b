// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zygos::schedule {

/// A place as a builder sees it.
struct PlaceOutline {
  std::string name;
  bool host_accessible = true;  ///< reads host memory directly: no staging, no copy
  Stage stage = 0;              ///< -1: takes no part
};

/// What a schedule is about. Empty lists stand for one stage of all nodes, one micro-batch and one
/// update of all samples, and one part per stage.
struct Outline {
  std::string policy;
  std::vector<PlaceOutline> places;
  std::int64_t batch = 0;
  ModelOutline model;
  std::vector<NodeRange> stages;
  std::vector<SampleRange> micro_batches;
  std::vector<ElementRange> parts;
  std::vector<Place> part_owners;  ///< see Schedule::part_owners
  std::vector<SampleRange> updates;
  std::int64_t chunk = 0;  ///< strict mode: see Schedule::chunk
  bool clips = false;      ///< updates scale the gradient by its norm over the model
};

/// Builds a schedule task by task. Reads, writes and bytes follow from what a task is; `after`
/// follows from reads and writes, so a policy states none of these: it adds the tasks in an order
/// in which they could run one by one. Everything a policy does wrong is an InternalError.
///
/// Nor does a policy know of layers that need statistics of more samples than one pass has
/// (NodeOutline::statistics): passes are cut in front of them, and build() puts in between what
/// gathers the statistics, and moves to later what has to wait for them. A UsageError says so where
/// updates come in between.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(Outline outline);

  const Outline& outline() const noexcept { return outline_; }
  Stage stage_of(Place place) const;
  Stage last_stage() const { return static_cast<Stage>(outline_.stages.size()) - 1; }

  /// What the place's stage needs of the samples, their ids at least: load, and copy where the
  /// place does not read host memory.
  void load(Place place, MicroBatch micro_batch);
  /// With the current weights, or those of `version` if it is given and still kept. `keeps` false:
  /// only what is sent on survives, and backward needs recompute() first. `nodes`: a part of the
  /// stage, to be timed by itself; such parts are added first to last.
  TaskId forward(Place place, MicroBatch micro_batch, bool keeps = true,
                 std::optional<Version> version = {}, std::optional<NodeRange> nodes = {});
  TaskId recompute(Place place, MicroBatch micro_batch);
  /// On a place of the last stage.
  TaskId loss(Place place, MicroBatch micro_batch);
  /// With the weights that forward of the same micro-batch used. `nodes`: a part of the stage, so
  /// that gradients of its later nodes can be sent while the earlier ones are at work; such parts
  /// are added last to first.
  TaskId backward(Place place, MicroBatch micro_batch, std::optional<NodeRange> nodes = {});

  /// What `from`'s stage made for `to`'s: activations if that is a later stage, gradients of
  /// activations if it is an earlier one. Nothing if no tensor goes that way. Queues keep the order
  /// of the list, so nothing waits in vain where a send is added after what it sends is made, and
  /// its receive before what needs it.
  void send(Place from, Place to, MicroBatch micro_batch);
  void receive(Place from, Place to, MicroBatch micro_batch);
  /// send(), and receive() at once.
  void transfer(Place from, Place to, MicroBatch micro_batch);
  /// transfer() to whichever places hold later (or earlier) stages, the stage's replicas left
  /// out: for schedules with one place per stage.
  void send_activations(Place from, MicroBatch micro_batch);
  void send_activation_gradients(Place from, MicroBatch micro_batch);

  /// Sends the place's gradient, all parts of its stage, to whoever reduces it. Costs nothing where
  /// the place is host-accessible: peers read its gradient where it lies.
  TaskId send_gradients(Place place, Queue queue = Queue::compute);
  /// Each of `places` reads what all others sent and sums it in their order.
  void all_reduce(std::span<const Place> places);
  /// Only `place`, one of them, does; what it made itself need not be sent.
  void all_reduce(std::span<const Place> places, Place place);
  /// A part of `from`'s gradient is added to that of `to`.
  void reduce(Place from, Place to, std::int32_t part);
  /// A part of `from`'s gradient replaces that of `to`.
  void replace(Place from, Place to, std::int32_t part);
  /// Weights of `from` replace those of all of `to`, whose version becomes that of `from`; or only
  /// a part does, where parts have owners.
  void broadcast_weights(Place from, std::span<const Place> to,
                         std::optional<std::int32_t> part = {});

  /// Outline::clips: the sums of squares of what the place's next update takes, of its stage or,
  /// where parts have owners, of one part. They are part of the norm once exchange_squares() has
  /// been called.
  TaskId squares(Place place, std::optional<std::int32_t> part = {});
  /// Each of `places`, which have the squares of the whole model among them, sends its own to all
  /// others and makes the norm of them, in the same order everywhere: updates of all wait for it.
  void exchange_squares(std::span<const Place> places);
  /// Of the whole stage, or of one part, where parts have owners: with the last of its parts
  /// updated or received, a place has the next version. Where updates clip, those of a part of the
  /// model need exchange_squares() first (a UsageError says so); one of the whole model sees to it.
  TaskId update(Place place, std::optional<std::int32_t> part = {});
  /// Room for stashed versions beside the current one; before any stash() of the place.
  void keep_versions(Place place, std::int32_t versions);
  /// Keeps the current version. The oldest kept one gives way.
  TaskId stash(Place place);
  /// Weights become the mean of the current and all stashed versions, at the end of every so many
  /// steps.
  TaskId average(Place place, std::int32_t every);

  Version version_of(Place place) const { return state(place).version; }

  /// Throws InternalError if validate() finds fault.
  Schedule build() &&;

 private:
  struct PlaceState {
    Version version = 0;
    std::int32_t stash_slots = 0;
    std::int32_t stashes = 0;
    std::vector<Version> kept;    ///< by slot; 0 is the current one
    bool fresh = true;            ///< no backward since the last update
    bool reduced = false;         ///< the reduced gradient is what update takes
    bool normed = false;          ///< the norm of that gradient is here
    std::vector<Buffer> squares;  ///< what has been summed up and not exchanged yet
    std::int32_t updates = 0;
    std::set<std::int32_t> renewed;                           ///< parts of the next version
    std::map<MicroBatch, std::pair<Version, bool>> forwards;  ///< version used, whether it kept
    std::vector<std::int32_t> sent;                           ///< messages of send_gradients
  };

  /// What follows from the links and parts for a stage, looked up once.
  struct StageNeeds {
    bool activations = false;        ///< of earlier stages
    bool sends_gradients = false;    ///< to earlier stages
    bool own_gradients = false;      ///< comes by message: of what it made itself
    bool passing_gradients = false;  ///< comes by message: of what it read and passes on
    std::vector<std::int32_t> parts;
    std::vector<Place> places;
  };

  PlaceState& state(Place place);
  const PlaceState& state(Place place) const;
  TaskId add(Task task);
  Task on(TaskKind kind, Place place, Queue queue = Queue::compute) const;
  Task on_samples(TaskKind kind, Place place, MicroBatch micro_batch,
                  Queue queue = Queue::compute) const;
  SampleRange samples(MicroBatch micro_batch) const;
  NodeRange nodes_of(Place place) const;
  bool host_accessible(Place place) const;
  std::int64_t sample_bytes(Place place) const;
  Task pass(TaskKind kind, Place place, MicroBatch micro_batch, Version version,
            NodeRange nodes) const;
  /// By earlier parts of a forward pass that goes on with the node.
  std::vector<Buffer> made_before(Place place, MicroBatch micro_batch, std::int32_t node) const;
  /// What precedes a part of a pass over `nodes` is done already; see forward() and backward().
  TaskId forward_part(Place place, MicroBatch micro_batch, bool keeps, Version version,
                      NodeRange nodes);
  TaskId backward_part(Place place, MicroBatch micro_batch, NodeRange nodes);
  std::vector<Buffer> incoming_activations(Place place, MicroBatch micro_batch) const;
  /// Of the stage itself: what forward has made, and the gradients that later nodes have left.
  std::vector<Buffer> backward_operands(Place place, MicroBatch micro_batch, NodeRange nodes) const;

  // builder_statistics.cpp
  using StatisticsKey = std::tuple<std::int32_t, std::int32_t, bool>;
  void read_batch_statistics(Task& task, bool of_gradients) const;
  /// `made`: what the pass has left in the stage, up to the node.
  void statistics(Place place, MicroBatch micro_batch, std::int32_t node, bool of_gradients,
                  const std::vector<Buffer>& made);
  void gather_statistics();
  void all_gather(const StatisticsKey& key, const std::map<Place, std::vector<Buffer>>& made);
  std::int64_t statistics_bytes(const std::vector<Buffer>& statistics) const;

  /// Buffers of all parts that overlap `elements`.
  std::vector<Buffer> by_part(BufferKind kind, Place place, ElementRange elements,
                              std::int32_t slot = 0) const;
  /// Weights or optimizer states: by part where parts have owners.
  std::vector<Buffer> parameters(BufferKind kind, Place place, ElementRange elements,
                                 std::int32_t slot = 0) const;
  ElementRange elements_of(Place place, std::optional<std::int32_t> part) const;
  /// What the place's weights of a part are.
  Version version_of(Place place, std::optional<std::int32_t> part) const;
  /// `weights` of the place have become those of `version`.
  void renew(Place place, const std::vector<Buffer>& weights, Version version);
  std::int32_t slot_of(Place place, Version version) const;
  Buffer new_message(Place from);
  /// What else reading a message of `from` reads: the buffer itself if the message is no copy.
  void read_message(Task& task, const Buffer& message, const std::vector<Buffer>& source) const;
  void move_part(TaskKind kind, Place from, Place to, std::int32_t part);
  /// What an update of the place takes.
  std::vector<Buffer> gradients_taken(Place place, ElementRange elements) const;
  std::int32_t next_update(Place place) const;
  /// Bytes of the sums of squares that the place has made.
  std::int64_t square_bytes(Place place) const;
  const StageLink* link_between(Stage from, Stage to) const;
  /// Strict mode: a place may send several partial sums.
  void count_partial_gradients();
  void find_needs();
  const StageNeeds& needs(Place place) const;
  /// transfer() along all of `links` that begin with the place's stage.
  void send_along(const std::vector<StageLink>& links, Place from, MicroBatch micro_batch);

  Outline outline_;
  Schedule schedule_;
  std::vector<StageLink> activation_links_;
  std::vector<StageLink> gradient_links_;
  std::vector<StageNeeds> needs_;  ///< by stage
  std::vector<PlaceState> states_;
  std::map<std::tuple<Place, Place, MicroBatch>, Buffer> on_the_way_;  ///< sent, not yet received
  std::int32_t messages_ = 0;
};

}  // namespace zygos::schedule
