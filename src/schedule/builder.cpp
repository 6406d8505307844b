// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/builder.hpp"

#include "schedule/order.hpp"
#include "schedule/stage_facts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/batch_statistics.hpp"
#include "zygos/schedule/gradient_tree.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

Buffer of_samples(BufferKind kind, Place place, MicroBatch micro_batch, std::int32_t slot = 0) {
  return {kind, place, micro_batch, slot, 0};
}

Buffer on_place(BufferKind kind, Place place) { return {kind, place, 0, 0, 0}; }

void append(std::vector<Buffer>& buffers, const std::vector<Buffer>& more) {
  buffers.insert(buffers.end(), more.begin(), more.end());
}

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

}  // namespace

ScheduleBuilder::ScheduleBuilder(Outline outline)
    : outline_(with_defaults(std::move(outline))),
      activation_links_(activation_links(outline_.model, outline_.stages)),
      gradient_links_(gradient_links(outline_.model, outline_.stages)),
      states_(outline_.places.size()) {
  schedule_.policy = outline_.policy;
  schedule_.batch = outline_.batch;
  schedule_.chunk = outline_.chunk;
  schedule_.stages = outline_.stages;
  schedule_.micro_batches = outline_.micro_batches;
  schedule_.parts = outline_.parts;
  schedule_.part_owners = outline_.part_owners;
  schedule_.updates = outline_.updates;
  for (const NodeOutline& node : outline_.model.nodes) {
    schedule_.parameters.push_back(node.parameters);
    schedule_.statistics.push_back(node.statistics);
  }
  schedule_.activation_links = activation_links_;
  schedule_.gradient_links = gradient_links_;
  for (const PlaceOutline& place : outline_.places) {
    schedule_.places.push_back(place.name);
    schedule_.stage_of.push_back(place.stage);
    schedule_.host_accessible.push_back(place.host_accessible);
  }
  for (PlaceState& place : states_) {
    place.kept = {0};
  }
  require_samples_together(outline_);
  find_needs();
}

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

void ScheduleBuilder::find_needs() {
  const std::vector<StageFacts> facts = facts_of(schedule_);
  for (const StageFacts& stage : facts) {
    StageNeeds& needs = needs_.emplace_back();
    needs.activations = !stage.activations_from.empty();
    needs.sends_gradients = stage.sends_gradients;
    needs.own_gradients =
        std::ranges::any_of(stage.gradients_from, &GradientSource::of_own_outputs);
    needs.passing_gradients =
        std::ranges::any_of(stage.gradients_from, &GradientSource::of_others_outputs);
    needs.parts = stage.parts;
  }
  for (std::size_t place = 0; place < outline_.places.size(); ++place) {
    const Stage stage = outline_.places[place].stage;
    if (stage >= 0 && stage <= last_stage()) {
      needs_[static_cast<std::size_t>(stage)].places.push_back(static_cast<Place>(place));
    }
  }
}

const ScheduleBuilder::StageNeeds& ScheduleBuilder::needs(Place place) const {
  return needs_[static_cast<std::size_t>(stage_of(place))];
}

std::vector<Buffer> ScheduleBuilder::by_part(BufferKind kind, Place place, ElementRange elements,
                                             std::int32_t slot) const {
  std::vector<Buffer> buffers;
  for (const std::int32_t part : needs(place).parts) {
    if (overlap(outline_.parts[static_cast<std::size_t>(part)], elements)) {
      buffers.push_back({kind, place, 0, slot, part});
    }
  }
  return buffers;
}

Task ScheduleBuilder::on(TaskKind kind, Place place, Queue queue) const {
  Task task;
  task.kind = kind;
  task.place = place;
  task.queue = queue;
  static_cast<void>(stage_of(place));
  return task;
}

Task ScheduleBuilder::on_samples(TaskKind kind, Place place, MicroBatch micro_batch,
                                 Queue queue) const {
  Task task = on(kind, place, queue);
  task.micro_batch = micro_batch;
  task.samples = samples(micro_batch);
  return task;
}

TaskId ScheduleBuilder::add(Task task) {
  schedule_.tasks.push_back(std::move(task));
  return static_cast<TaskId>(schedule_.tasks.size() - 1);
}

void ScheduleBuilder::load(Place place, MicroBatch micro_batch) {
  Task task = on_samples(TaskKind::load, place, micro_batch);
  const Buffer staging = of_samples(BufferKind::staging, place, micro_batch);
  const Buffer inputs = of_samples(BufferKind::inputs, place, micro_batch);
  const std::int64_t bytes = task.samples.count() * sample_bytes(place);
  task.bytes = bytes;
  task.reads = {on_place(BufferKind::batch, 0)};
  task.writes = {host_accessible(place) ? inputs : staging};
  add(std::move(task));
  if (!host_accessible(place)) {
    Task copy = on_samples(TaskKind::copy, place, micro_batch);
    copy.bytes = bytes;
    copy.reads = {staging};
    copy.writes = {inputs};
    add(std::move(copy));
  }
}

std::vector<Buffer> ScheduleBuilder::incoming_activations(Place place,
                                                          MicroBatch micro_batch) const {
  return needs(place).activations
             ? std::vector{of_samples(BufferKind::boundary, place, micro_batch)}
             : std::vector<Buffer>();
}

Task ScheduleBuilder::pass(TaskKind kind, Place place, MicroBatch micro_batch, Version version,
                           NodeRange nodes) const {
  Task task = on_samples(kind, place, micro_batch);
  task.nodes = nodes;
  task.version = version;
  task.slot = slot_of(place, version);
  task.reads = {of_samples(BufferKind::inputs, place, micro_batch)};
  append(task.reads,
         parameters(BufferKind::weights, place, outline_.model.parameters_of(nodes), task.slot));
  append(task.reads, incoming_activations(place, micro_batch));
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
    statistics(place, micro_batch, node, false, made_before(place, micro_batch, node));
  }
  return forward_part(place, micro_batch, keeps, used, rest);
}

std::vector<Buffer> ScheduleBuilder::made_before(Place place, MicroBatch micro_batch,
                                                 std::int32_t node) const {
  return node > nodes_of(place).begin
             ? std::vector{of_samples(BufferKind::activations, place, micro_batch),
                           of_samples(BufferKind::outputs, place, micro_batch)}
             : std::vector<Buffer>();
}

TaskId ScheduleBuilder::forward_part(Place place, MicroBatch micro_batch, bool keeps,
                                     Version version, NodeRange nodes) {
  Task task = pass(TaskKind::forward, place, micro_batch, version, nodes);
  state(place).forwards[micro_batch] = {task.version, keeps};
  task.keeps = keeps;
  task.writes = {of_samples(BufferKind::activations, place, micro_batch),
                 of_samples(BufferKind::outputs, place, micro_batch),
                 of_samples(BufferKind::scratch, place, micro_batch, 1)};
  append(task.reads, made_before(place, micro_batch, nodes.begin));
  read_batch_statistics(task, false);
  return add(std::move(task));
}

TaskId ScheduleBuilder::recompute(Place place, MicroBatch micro_batch) {
  auto& [version, keeps] = state(place).forwards.at(micro_batch);
  Task task = pass(TaskKind::recompute, place, micro_batch, version, nodes_of(place));
  keeps = false;
  task.writes = {of_samples(BufferKind::activations, place, micro_batch, 1),
                 of_samples(BufferKind::outputs, place, micro_batch),
                 of_samples(BufferKind::scratch, place, micro_batch, 1)};
  read_batch_statistics(task, false);
  return add(std::move(task));
}

TaskId ScheduleBuilder::loss(Place place, MicroBatch micro_batch) {
  ZYGOS_REQUIRE(stage_of(place) == last_stage(), "a loss needs the model's output");
  Task task = on_samples(TaskKind::loss, place, micro_batch);
  task.update = update_of(schedule_, task.samples);
  task.reads = {of_samples(BufferKind::inputs, place, micro_batch),
                of_samples(BufferKind::outputs, place, micro_batch)};
  task.writes = {of_samples(BufferKind::output_gradients, place, micro_batch)};
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
    statistics(place, micro_batch, *node, true,
               backward_operands(place, micro_batch, {*node, *node + 1}));
  }
  return backward_part(place, micro_batch, rest);
}

std::vector<Buffer> ScheduleBuilder::backward_operands(Place place, MicroBatch micro_batch,
                                                       NodeRange nodes) const {
  const auto used = state(place).forwards.find(micro_batch);
  ZYGOS_REQUIRE(used != state(place).forwards.end(), "backward of a micro-batch without a forward");
  const bool keeps = used->second.second;
  std::vector<Buffer> operands{
      of_samples(BufferKind::activations, place, micro_batch, keeps ? 0 : 1),
      of_samples(BufferKind::outputs, place, micro_batch)};
  if (stage_of(place) == last_stage() || needs(place).own_gradients) {
    operands.push_back(of_samples(BufferKind::output_gradients, place, micro_batch));
  }
  if (needs(place).passing_gradients) {
    operands.push_back(of_samples(BufferKind::input_gradients, place, micro_batch));
  }
  if (nodes.end < nodes_of(place).end) {
    operands.push_back(of_samples(BufferKind::scratch, place, micro_batch));
  }
  return operands;
}

TaskId ScheduleBuilder::backward_part(Place place, MicroBatch micro_batch, NodeRange nodes) {
  PlaceState& here = state(place);
  const auto operands = backward_operands(place, micro_batch, nodes);
  const Version version = here.forwards.at(micro_batch).first;
  Task task = pass(TaskKind::backward, place, micro_batch, version, nodes);
  task.accumulates = !here.fresh;
  append(task.reads, operands);
  const auto written = by_part(BufferKind::gradients, place, outline_.model.parameters_of(nodes));
  if (task.accumulates) {
    append(task.reads, written);
  }
  read_batch_statistics(task, true);
  task.writes = written;
  task.writes.push_back(of_samples(BufferKind::scratch, place, micro_batch));
  if (needs(place).sends_gradients) {
    task.writes.push_back(of_samples(BufferKind::input_gradients, place, micro_batch));
  }
  if (nodes.begin == nodes_of(place).begin) {
    here.fresh = false;
  }
  return add(std::move(task));
}

void ScheduleBuilder::count_partial_gradients() {
  std::vector<std::int64_t> partial;
  for (Place place = 0; place < static_cast<Place>(states_.size()); ++place) {
    partial.push_back(static_cast<std::int64_t>(place_tree(schedule_, place).results.size()));
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
