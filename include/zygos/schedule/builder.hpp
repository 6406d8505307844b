// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace zygos::schedule {

struct StageFacts;
class PlaceFacts;

/// A place as a builder sees it.
struct PlaceOutline {
  std::string name;
  bool host_accessible = true;  ///< reads host memory directly: no staging, no copy
  Stage stage = 0;              ///< -1: computes nothing; it may own parts
  std::optional<Place> lane{};  ///< whose lane it is on, too; else a lane of its own. Those of the
                                ///< first kind come last
};

/// What a schedule is about. Empty lists stand for one stage of all nodes, one micro-batch and one
/// update of all samples, and one part per stage.
struct Outline {
  std::string policy;
  std::vector<PlaceOutline> places;
  std::int64_t batch = 0;
  ModelOutline model;  ///< the sharded one where there are slices
  std::vector<NodeRange> stages;
  std::vector<SampleRange> micro_batches;
  std::vector<ElementRange> parts;
  std::vector<Place> part_owners;  ///< see Schedule::part_owners
  std::vector<SampleRange> updates;
  std::int32_t batch_slots = 1;      ///< see Schedule::batch_slots
  std::int64_t chunk = 0;            ///< strict mode: see Schedule::chunk
  bool clips = false;                ///< updates scale the gradient by its norm over the model
  std::vector<ModelSlice> slices{};  ///< see Schedule::slices
  /// By place: see Schedule::streams. The builder brings what passes need from its owners, a part
  /// ahead; needs part_owners.
  std::vector<bool> streams{};
  /// By place: see Schedule::borrows; needs part_owners. broadcast_weights() brings them.
  std::vector<bool> borrows{};
  /// By place: see Schedule::spills_states. The builder reads what an update needs, `prefetch`
  /// parts ahead, and writes it behind it; needs part_owners, and a place that reads host memory.
  std::vector<bool> spills_states{};
  std::int64_t optimizer_states = 0;     ///< values that the optimizer keeps for a parameter
  std::vector<KeptNodes> activations{};  ///< nodes whose activations are not simply kept
  std::int32_t prefetch = 1;             ///< segments that are copied while another is computed
  LinkCodecs codecs{};                   ///< of messages, by payload; strict mode: all exact
  OneBitSteps one_bit{};                 ///< see Schedule::one_bit
};

/// Builds a schedule task by task. Reads, writes and bytes follow from what a task is; `after`
/// follows from reads and writes, so a policy states none of these: it adds the tasks in an order
/// in which they could run one by one. Everything a policy does wrong is an InternalError.
///
/// Nor does a policy know what becomes of activations (Outline::activations): passes are cut where
/// segments end, offloaded segments are copied to host memory and fetched before backward needs
/// them, spilled ones are written to a file and read, and dropped ones are recomputed.
///
/// Nor of layers that need statistics of more samples than one pass has
/// (NodeOutline::statistics): passes are cut in front of them, and build() puts in between what
/// gathers the statistics, and moves to later what has to wait for them. A UsageError says so where
/// updates come in between.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(Outline outline);
  ~ScheduleBuilder();

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
  /// The same where `to` works on a micro-batch that holds the samples of `from`'s, or the other
  /// way round: the samples of the smaller one go over. A micro-batch arrives from several places
  /// so, or its gradient returns to them, part by part.
  void transfer(Place from, Place to, MicroBatch sent, MicroBatch received);
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
  /// Outline::one_bit: a part of the place's gradient becomes what the optimizer exchanges
  /// of it in one bit an element: of its own samples, or (`of_sum`) of the sum of all compressed
  /// ones.
  TaskId compress(Place place, std::int32_t part, bool of_sum);
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
  /// Outline::clips: an update of a part before exchange_squares(), as if the norm did not exceed
  /// its limit. Nobody may use the weights until confirm() of that part, which needs the norm and
  /// leaves what update() would have made. The part's squares() may come before or after.
  TaskId speculate(Place place, std::int32_t part);
  TaskId confirm(Place place, std::int32_t part);
  /// Room for stashed versions beside the current one; before any stash() of the place. Those in
  /// host memory are offloaded, and a pass that needs one fetches it into the lane's slot 1 first.
  /// Those in a file are written as soon as they are made, and read as soon as slot 1 is free; no
  /// more than two versions stay on the lane, whose memory a file would not reduce.
  void keep_versions(Place place, std::int32_t versions, Tier tier = Tier::lane);
  /// Keeps the current version. The oldest kept one gives way.
  TaskId stash(Place place);
  /// Weights become the mean of the current and all stashed versions, at the end of every so many
  /// steps.
  TaskId average(Place place, std::int32_t every);

  Version version_of(Place place) const { return state(place).version; }

  /// Throws InternalError if validate() finds fault.
  Schedule build() &&;

 private:
  /// Segments that come back to a lane for backward of a micro-batch.
  struct Returning {
    std::vector<std::int32_t> order;  ///< as backward needs them
    /// By segment of the schedule: how many of these its backward needs.
    std::map<std::int32_t, std::size_t> needed;
    std::size_t next = 0;  ///< of `order`, that has not been brought
    std::size_t read = 0;  ///< of `order`, that has not been read from a file, if it is there
  };

  struct PlaceState {
    Version version = 0;
    std::int32_t stash_slots = 0;
    std::int32_t stashes = 0;
    std::vector<Version> kept;     ///< by slot; 0 is the current one
    std::vector<Version> resting;  ///< by slot, in host memory or the file
    Tier stash_tier = Tier::lane;  ///< where stashed versions rest
    bool fresh = true;             ///< no backward since the last update
    bool reduced = false;          ///< the reduced gradient is what update takes
    bool normed = false;           ///< the norm of that gradient is here
    bool squared = false;          ///< there are squares that have not been exchanged
    std::int32_t updates = 0;
    std::set<std::int32_t> renewed;                           ///< parts of the next version
    std::map<MicroBatch, std::pair<Version, bool>> forwards;  ///< version used, whether it kept
    TaskId sent = -1;                                         ///< the last send_gradients()
    std::map<MicroBatch, Returning> returning;
    std::set<std::pair<std::int32_t, std::int32_t>> visits;  ///< of weights: part and slot
    std::set<std::int32_t> states;                           ///< parts whose states have been read
  };

  PlaceState& state(Place place);
  const PlaceState& state(Place place) const;
  /// Completes the task's reads and writes by the table of kinds. Messages, what is read in place
  /// and what only the builder knows (kept versions, gathered statistics) stand in them already.
  TaskId add(Task task);
  /// Of a kind's own queue.
  Task on(TaskKind kind, Place place) const;
  Task on_samples(TaskKind kind, Place place, MicroBatch micro_batch) const;
  SampleRange samples(MicroBatch micro_batch) const;
  NodeRange nodes_of(Place place) const;
  bool host_accessible(Place place) const;
  std::int64_t sample_bytes(Place place) const;
  Task pass(TaskKind kind, Place place, MicroBatch micro_batch, Version version,
            NodeRange nodes) const;
  /// What precedes a part of a pass over `nodes` is done already; see forward() and backward().
  TaskId forward_part(Place place, MicroBatch micro_batch, bool keeps, Version version,
                      NodeRange nodes);
  TaskId backward_part(Place place, MicroBatch micro_batch, NodeRange nodes);
  /// Version that the forward pass used, and whether its activations are kept.
  const std::pair<Version, bool>& forward_of(Place place, MicroBatch micro_batch) const;

  // builder_activations.cpp
  void require_no_other_recompute() const;
  /// Sets Task::not_before, so that copies run no further ahead than Outline::prefetch says.
  void limit_copies();
  /// After forward of the whole segment.
  void leave(Place place, MicroBatch micro_batch, std::int32_t segment);
  /// Before backward of the segment: what it needs, and what is to be copied meanwhile.
  void bring_segments(Place place, MicroBatch micro_batch, std::int32_t segment);
  void bring_segment(Place place, MicroBatch micro_batch, std::int32_t segment);
  /// Reads what spilled segments of `order` before `end` have in the file.
  void read_segments(Place place, MicroBatch micro_batch, Returning& returning, std::size_t end);
  Returning returning_order(Place place) const;
  Task on_segment(TaskKind kind, Place place, MicroBatch micro_batch, std::int32_t segment) const;

  // builder_states.cpp
  /// Before the update of a part: its states, and those of the parts that are updated next.
  void read_states(Place place, std::optional<std::int32_t> part);
  void write_states(Place place, std::optional<std::int32_t> part);
  Task on_states(TaskKind kind, Place place, std::int32_t part) const;

  // builder_statistics.cpp
  using StatisticsKey = std::tuple<std::int32_t, std::int32_t, bool>;
  void statistics(Place place, MicroBatch micro_batch, std::int32_t node, bool of_gradients);
  void gather_statistics();
  void all_gather(const StatisticsKey& key, const std::map<Place, std::vector<Buffer>>& made);
  std::int64_t statistics_bytes(const std::vector<Buffer>& statistics) const;

  // builder_streaming.cpp
  /// Cut where segments and, on a place that streams, parts end.
  std::vector<NodeRange> cut_pass(Place place, NodeRange nodes) const;
  /// Slot of streamed weights: each part comes once for forward and once for backward.
  static std::int32_t slot_for(TaskKind kind) { return kind == TaskKind::forward ? 0 : 1; }
  /// Brings the weights that a pass over the nodes needs, and those of the part behind them.
  void bring_weights(Place place, TaskKind kind, NodeRange nodes);
  void visit(Place place, std::int32_t part, std::int32_t slot);

  // builder_versions.cpp
  Task on_version(TaskKind kind, Place place, std::int32_t slot, Version version) const;
  /// Brings the version if it rests elsewhere and is not on the lane.
  void bring(Place place, Version version);
  /// Puts writes of versions to a file, and reads, as early in the list as they can be.
  void advance_versions();

  ElementRange elements_of(Place place, std::optional<std::int32_t> part) const;
  /// What the place's weights of a part are.
  Version version_of(Place place, std::optional<std::int32_t> part) const;
  /// The task has written weights of its version.
  void renew(TaskId task);
  /// The task reads the weights in the slot, all of the stage's.
  void read_version(Task& task, std::int32_t slot) const;
  std::int32_t slot_of(Place place, Version version) const;
  Buffer new_message(Place from);
  /// The message that `sender` writes, and what that reads if the message is no copy of it.
  void read_message_of(Task& task, TaskId sender) const;
  /// The messages of all senders but the task's own place, whose bytes are summed.
  void read_others(Task& task, const std::vector<TaskId>& senders) const;
  void move_part(TaskKind kind, Place from, Place to, std::int32_t part);
  std::int32_t next_update(Place place) const;
  /// Of update(), speculate() and confirm().
  Task updating(TaskKind kind, Place place, std::optional<std::int32_t> part) const;
  /// The sums of squares that each place has made.
  std::vector<TaskId> broadcast_squares(std::span<const Place> places);
  /// Sets codec and bytes of a task that sends, receives or reduces its elements of gradients.
  void carry_gradients(Task& task) const;
  /// The same of samples that travel over a link.
  void carry_samples(Task& task, const StageLink& link) const;
  void send_samples(Place from, Place to, MicroBatch micro_batch, MicroBatch carried);
  void receive_samples(Place from, Place to, MicroBatch micro_batch, MicroBatch carried);
  const StageLink* link_between(Stage from, Stage to) const;
  /// Strict mode: a place may send several partial sums.
  void count_partial_gradients();
  void find_places();
  const StageFacts& facts(Place place) const;
  /// transfer() along all of `links` that begin with the place's stage.
  void send_along(const std::vector<StageLink>& links, Place from, MicroBatch micro_batch);

  Outline outline_;
  Schedule schedule_;
  std::vector<StageLink> activation_links_;
  std::vector<StageLink> gradient_links_;
  std::unique_ptr<PlaceFacts> facts_;
  std::vector<std::vector<Place>> places_of_;  ///< by stage
  std::vector<PlaceState> states_;
  std::map<std::tuple<Place, Place, MicroBatch>, Buffer> on_the_way_;  ///< sent, not yet received
  std::int32_t messages_ = 0;
};

}  // namespace zygos::schedule
