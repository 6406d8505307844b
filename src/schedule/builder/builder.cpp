// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/builder.hpp"

#include "schedule/builder/buffer_uses.hpp"
#include "schedule/builder/operands.hpp"
#include "schedule/order/order.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/batch_statistics.hpp"
#include "zygos/schedule/gradient_tree.hpp"

#include <algorithm>
#include <iterator>

namespace zygos::schedule {
namespace {

Outline with_defaults(Outline outline) {
  if (outline.stages.empty()) {
    outline.stages = {outline.model.all_nodes()};
  }
  if (outline.micro_batches.empty()) {
    outline.micro_batches = {{0, outline.batch}};
  }
  if (outline.updates.empty()) {
    outline.updates = {{0, outline.batch}};
  }
  if (outline.parts.empty()) {
    for (const NodeRange& nodes : outline.stages) {
      outline.parts.push_back(outline.model.parameters_of(nodes));
    }
  }
  return outline;
}

/// Layers with statistics over samples would otherwise, without a word, compute something else.
void require_samples_together(const Outline& outline) {
  const std::int64_t together = outline.model.samples_together;
  const auto refuse = [&](const std::string& found) {
    throw UsageError("policy '" + outline.policy + "' " + found +
                     "; layers of this model take statistics of " + std::to_string(together) +
                     " samples together, and it may divide a batch only between multiples of them");
  };
  for (const SampleRange& samples : outline.micro_batches) {
    if (together > 1 && samples.begin % together != 0) {
      refuse("begins a micro-batch at sample " + std::to_string(samples.begin));
    }
  }
  if (together > 1 && outline.chunk > 0 && outline.chunk < outline.batch &&
      outline.chunk % together != 0) {
    refuse("sums gradients in chunks of " + std::to_string(outline.chunk) + " (train.strict)");
  }
}

/// Strict mode promises that no policy changes a bit.
void require_exact_links(const Outline& outline) {
  if (outline.chunk > 0 && !outline.codecs.all_exact()) {
    throw UsageError(
        "policy '" + outline.policy +
        "': strict mode keeps the bits of a run on one lane, and link_precision rounds "
        "what crosses from lane to lane to bf16; leave one of them");
  }
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(Outline outline)
    : outline_(with_defaults(std::move(outline))),
      activation_links_(activation_links(outline_.model, outline_.stages)),
      gradient_links_(gradient_links(outline_.model, outline_.stages)),
      states_(outline_.places.size()) {
  schedule_.policy = outline_.policy;
  schedule_.batch = outline_.batch;
  schedule_.batch_slots = outline_.batch_slots;
  schedule_.chunk = outline_.chunk;
  schedule_.one_bit = outline_.one_bit;
  schedule_.slices = outline_.slices;
  if (!outline_.slices.empty()) {
    std::ranges::transform(outline_.model.nodes, std::back_inserter(schedule_.output_bytes),
                           &NodeOutline::output_bytes);
  }
  schedule_.stages = outline_.stages;
  schedule_.micro_batches = outline_.micro_batches;
  schedule_.parts = outline_.parts;
  schedule_.part_owners = outline_.part_owners;
  schedule_.streams = outline_.streams;
  schedule_.borrows = outline_.borrows;
  schedule_.spills_states = outline_.spills_states;
  schedule_.updates = outline_.updates;
  for (const NodeOutline& node : outline_.model.nodes) {
    schedule_.parameters.push_back(node.parameters);
    schedule_.statistics.push_back(node.statistics);
  }
  schedule_.segments =
      cut_into_segments(outline_.model, outline_.stages, activation_links_, outline_.activations);
  schedule_.activation_links = activation_links_;
  schedule_.gradient_links = gradient_links_;
  for (const PlaceOutline& place : outline_.places) {
    schedule_.places.push_back(place.name);
    schedule_.stage_of.push_back(place.stage);
    schedule_.host_accessible.push_back(place.host_accessible);
    ZYGOS_REQUIRE(
        place.lane || schedule_.further_lanes.empty(),
        "place '" + place.name + "' has a lane of its own and comes behind one that has not");
    if (place.lane) {
      schedule_.further_lanes.push_back(*place.lane);
    }
  }
  for (PlaceState& place : states_) {
    place.kept = {0};
  }
  require_samples_together(outline_);
  require_exact_links(outline_);
  facts_ = std::make_unique<PlaceFacts>(schedule_);
  find_places();
}

ScheduleBuilder::~ScheduleBuilder() = default;

ScheduleBuilder::PlaceState& ScheduleBuilder::state(Place place) {
  ZYGOS_REQUIRE(place >= 0 && static_cast<std::size_t>(place) < states_.size(),
                "policy '" + outline_.policy + "' puts a task on place " + std::to_string(place) +
                    " of " + std::to_string(states_.size()));
  return states_[static_cast<std::size_t>(place)];
}

const ScheduleBuilder::PlaceState& ScheduleBuilder::state(Place place) const {
  return const_cast<ScheduleBuilder*>(this)->state(place);
}

Stage ScheduleBuilder::stage_of(Place place) const {
  static_cast<void>(state(place));
  const Stage stage = outline_.places[static_cast<std::size_t>(place)].stage;
  ZYGOS_REQUIRE(stage >= 0 && stage <= last_stage(), "policy '" + outline_.policy +
                                                         "' gives place " + std::to_string(place) +
                                                         " a task but no stage");
  return stage;
}

NodeRange ScheduleBuilder::nodes_of(Place place) const {
  return outline_.stages[static_cast<std::size_t>(stage_of(place))];
}

SampleRange ScheduleBuilder::samples(MicroBatch micro_batch) const {
  ZYGOS_REQUIRE(
      micro_batch >= 0 && static_cast<std::size_t>(micro_batch) < outline_.micro_batches.size(),
      "policy '" + outline_.policy + "' names micro-batch " + std::to_string(micro_batch) + " of " +
          std::to_string(outline_.micro_batches.size()));
  return outline_.micro_batches[static_cast<std::size_t>(micro_batch)];
}

bool ScheduleBuilder::host_accessible(Place place) const {
  return outline_.places[static_cast<std::size_t>(place)].host_accessible;
}

std::int64_t ScheduleBuilder::sample_bytes(Place place) const {
  return sample_id_bytes +
         (outline_.model.reads_input(nodes_of(place)) ? outline_.model.input_bytes : 0) +
         (stage_of(place) == last_stage() ? outline_.model.target_bytes : 0);
}

void ScheduleBuilder::find_places() {
  places_of_.resize(outline_.stages.size());
  for (std::size_t place = 0; place < outline_.places.size(); ++place) {
    const Stage stage = outline_.places[place].stage;
    if (stage >= 0 && stage <= last_stage()) {
      places_of_[static_cast<std::size_t>(stage)].push_back(static_cast<Place>(place));
    }
  }
}

const StageFacts& ScheduleBuilder::facts(Place place) const { return (*facts_)[place]; }

Task ScheduleBuilder::on(TaskKind kind, Place place) const {
  Task task;
  task.kind = kind;
  task.place = place;
  task.queue = traits_of(kind).queue;
  if (!owns_parts(schedule_, place)) {
    static_cast<void>(stage_of(place));
  }
  return task;
}

Task ScheduleBuilder::on_samples(TaskKind kind, Place place, MicroBatch micro_batch) const {
  Task task = on(kind, place);
  task.micro_batch = micro_batch;
  task.samples = samples(micro_batch);
  return task;
}

TaskId ScheduleBuilder::add(Task task) {
  Operands operands;
  find_operands(schedule_, facts(task.place), task, operands);
  // What the table knows nothing of: messages, and what is read in place where no copy is made.
  const auto is_of_peers = [&](const Buffer& buffer) {
    return buffer.kind == BufferKind::message || buffer.place != task.place;
  };
  std::vector<Buffer> reads;
  std::ranges::copy_if(task.reads, std::back_inserter(reads), is_of_peers);
  const bool message_first = traits_of(task.kind).messages == Reads::one_message;
  reads.insert(message_first ? reads.end() : reads.begin(), operands.reads.begin(),
               operands.reads.end());
  task.reads = std::move(reads);
  task.writes.insert(task.writes.end(), operands.writes.begin(), operands.writes.end());
  schedule_.tasks.push_back(std::move(task));
  return static_cast<TaskId>(schedule_.tasks.size() - 1);
}

void ScheduleBuilder::load(Place place, MicroBatch micro_batch) {
  Task task = on_samples(TaskKind::load, place, micro_batch);
  task.bytes = task.samples.count() * sample_bytes(place);
  Task copy = on_samples(TaskKind::copy, place, micro_batch);
  copy.bytes = task.bytes;
  if (loads_ahead(schedule_, place)) {
    // Beside the kernels of this step, which do not wait for it.
    task.queue = copy.queue = Queue::incoming;
  }
  add(std::move(task));
  if (!host_accessible(place)) {
    add(std::move(copy));
  }
}

Task ScheduleBuilder::pass(TaskKind kind, Place place, MicroBatch micro_batch, Version version,
                           NodeRange nodes) const {
  Task task = on_samples(kind, place, micro_batch);
  task.nodes = nodes;
  task.version = version;
  task.slot = streams(schedule_, place) ? slot_for(kind) : slot_of(place, version);
  return task;
}

TaskId ScheduleBuilder::forward(Place place, MicroBatch micro_batch, bool keeps,
                                std::optional<Version> version, std::optional<NodeRange> nodes) {
  const Version used = version.value_or(state(place).version);
  NodeRange rest = nodes.value_or(nodes_of(place));
  for (const std::int32_t node : divided_nodes(schedule_, samples(micro_batch), rest)) {
    if (rest.begin < node) {
      forward_part(place, micro_batch, keeps, used, {rest.begin, node});
      rest.begin = node;
    }
    statistics(place, micro_batch, node, false);
  }
  return forward_part(place, micro_batch, keeps, used, rest);
}

TaskId ScheduleBuilder::forward_part(Place place, MicroBatch micro_batch, bool keeps,
                                     Version version, NodeRange nodes) {
  bring(place, version);
  if (!keeps) {
    require_no_other_recompute();
  }
  state(place).forwards[micro_batch] = {version, keeps};
  TaskId last = nobody;
  for (const NodeRange& part : cut_pass(place, nodes)) {
    const std::int32_t segment = segment_of(schedule_, part.begin);
    bring_weights(place, TaskKind::forward, part);
    Task task = pass(TaskKind::forward, place, micro_batch, version, part);
    task.keeps = keeps && keeping_on(schedule_, place, segment) == Keeping::kept;
    last = add(std::move(task));
    if (part.end == segment_nodes(schedule_, part.begin, nodes_of(place)).end) {
      leave(place, micro_batch, segment);
    }
  }
  return last;
}

TaskId ScheduleBuilder::recompute(Place place, MicroBatch micro_batch) {
  require_no_other_recompute();
  auto& [version, keeps] = state(place).forwards.at(micro_batch);
  bring(place, version);
  Task task = pass(TaskKind::recompute, place, micro_batch, version, nodes_of(place));
  keeps = false;
  return add(std::move(task));
}

TaskId ScheduleBuilder::loss(Place place, MicroBatch micro_batch) {
  ZYGOS_REQUIRE(stage_of(place) == last_stage(), "a loss needs the model's output");
  Task task = on_samples(TaskKind::loss, place, micro_batch);
  task.update = update_of(schedule_, task.samples);
  return add(std::move(task));
}

TaskId ScheduleBuilder::backward(Place place, MicroBatch micro_batch,
                                 std::optional<NodeRange> nodes) {
  NodeRange rest = nodes.value_or(nodes_of(place));
  const auto divided = divided_nodes(schedule_, samples(micro_batch), rest);
  for (auto node = divided.rbegin(); node != divided.rend(); ++node) {
    if (*node + 1 < rest.end) {
      backward_part(place, micro_batch, {*node + 1, rest.end});
      rest.end = *node + 1;
    }
    bring_segments(place, micro_batch, segment_of(schedule_, *node));
    statistics(place, micro_batch, *node, true);
  }
  return backward_part(place, micro_batch, rest);
}

const std::pair<Version, bool>& ScheduleBuilder::forward_of(Place place,
                                                            MicroBatch micro_batch) const {
  const auto used = state(place).forwards.find(micro_batch);
  ZYGOS_REQUIRE(used != state(place).forwards.end(), "backward of a micro-batch without a forward");
  return used->second;
}

TaskId ScheduleBuilder::backward_part(Place place, MicroBatch micro_batch, NodeRange nodes) {
  PlaceState& here = state(place);
  const auto& [version, keeps] = forward_of(place, micro_batch);
  bring(place, version);
  const std::vector<NodeRange> parts = cut_pass(place, nodes);
  TaskId last = nobody;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::int32_t segment = segment_of(schedule_, part->begin);
    bring_segments(place, micro_batch, segment);
    bring_weights(place, TaskKind::backward, *part);
    Task task = pass(TaskKind::backward, place, micro_batch, version, *part);
    task.recomputed = !keeps || keeping_on(schedule_, place, segment) != Keeping::kept;
    task.accumulates = !here.fresh;
    last = add(std::move(task));
  }
  if (nodes.begin == nodes_of(place).begin) {
    here.fresh = false;
  }
  return last;
}

void ScheduleBuilder::count_partial_gradients() {
  std::vector<std::int64_t> partial;
  const TasksByPlace tasks(schedule_);
  for (Place place = 0; place < static_cast<Place>(states_.size()); ++place) {
    partial.push_back(static_cast<std::int64_t>(place_tree(tasks, place).results.size()));
  }
  for (Task& task : schedule_.tasks) {
    const std::int64_t bytes = task.elements.count() * outline_.model.element_bytes;
    if (task.kind == TaskKind::broadcast && task.payload == Payload::gradients) {
      task.bytes = bytes * partial[static_cast<std::size_t>(task.place)];
    } else if (task.kind == TaskKind::all_reduce) {
      task.bytes = 0;
      for (const Buffer& buffer : task.reads) {
        task.bytes += buffer.kind == BufferKind::message
                          ? bytes * partial[static_cast<std::size_t>(buffer.place)]
                          : 0;
      }
    }
  }
}

Schedule ScheduleBuilder::build() && {
  gather_statistics();
  advance_versions();
  limit_copies();
  if (schedule_.chunk > 0) {
    count_partial_gradients();
  }
  derive_order(schedule_);
  const auto findings = validate(schedule_);
  if (!findings.empty()) {
    throw InternalError("policy '" + schedule_.policy +
                        "' made a bad schedule: " + findings.front());
  }
  return std::move(schedule_);
}

}  // namespace zygos::schedule
