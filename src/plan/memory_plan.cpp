// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/memory_plan.hpp"

#include <algorithm>

namespace zygos::plan {
namespace {

using memory::ArenaLayout;
using memory::Category;

/// Whose memory is planned and for how many samples.
struct Place {
  const graph::Graph& graph;
  const nn::Optimizer& optimizer;
  DType dtype;
  const TargetSpec& target;
  std::int64_t samples;
  bool host_accessible;
  bool reduces;

  std::size_t bytes(const Shape& sample) const {
    return static_cast<std::size_t>(samples * sample.size()) * size_of(dtype);
  }
  std::size_t flat_bytes() const {
    return static_cast<std::size_t>(graph.parameter_elements()) * size_of(dtype);
  }
};

/// Inputs, targets and ids in this order without gaps but the alignment's, in lane and staging
/// alike: a batch crosses the link as one copy.
void add_batch(const Place& place, ArenaLayout& layout, Category category, std::size_t& inputs,
               std::size_t& targets, std::size_t& ids) {
  const auto samples = static_cast<std::size_t>(place.samples);
  inputs = layout.add(category, "inputs", place.bytes(place.graph.input_shape()));
  targets = layout.add(
      category, "targets",
      samples * static_cast<std::size_t>(place.target.shape.size()) * size_of(place.target.dtype));
  ids = layout.add(category, "sample_ids", samples * size_of(DType::u32));
}

void add_parameters(const Place& place, ArenaLayout& layout, PlacePieces& pieces) {
  pieces.weights = layout.add(Category::weights, "weights", place.flat_bytes());
  pieces.gradients = layout.add(Category::gradients, "gradients", place.flat_bytes());
  for (const std::string& state : place.optimizer.state_names()) {
    pieces.states.push_back(layout.add(Category::optimizer_state, state, place.flat_bytes()));
  }
  const auto mask = place.optimizer.uses_decay() ? place.graph.parameter_elements() : 0;
  pieces.decay_mask =
      layout.add(Category::optimizer_state, "decay_mask", static_cast<std::size_t>(mask));
}

void add_node(const Place& place, const graph::Node& node, ArenaLayout& layout,
              PlacePieces& pieces) {
  const std::size_t bytes = place.bytes(node.output_shape);
  pieces.outputs.push_back(layout.add(Category::activations, node.name + "/output", bytes));
  pieces.d_outputs.push_back(layout.add(Category::activations, node.name + "/d_output", bytes));
  auto& workspace = pieces.workspace.emplace_back();
  for (const auto& spec : node.layer->workspace(place.samples, node.input_shapes, place.dtype)) {
    const auto size = static_cast<std::size_t>(spec.shape.size()) * size_of(spec.dtype);
    workspace.push_back(layout.add(spec.kept ? Category::activations : Category::workspace,
                                   node.name + "/" + spec.name, size));
  }
}

/// An output with several readers gets a gradient from each; all but one need memory of their own.
void add_added_gradients(const Place& place, ArenaLayout& layout, PlacePieces& pieces) {
  const auto gradients = place.graph.input_gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const graph::Node& node = place.graph.nodes()[i];
    auto& added = pieces.added_gradients.emplace_back();
    for (std::size_t input = 0; input < gradients[i].size(); ++input) {
      if (gradients[i][input] == graph::InputGradient::added) {
        added.push_back(layout.add(Category::workspace, node.name + "/d_input",
                                   place.bytes(node.input_shapes[input])));
      }
    }
  }
}

void add_loss(const Place& place, ArenaLayout& layout, PlacePieces& pieces) {
  const auto samples = static_cast<std::size_t>(place.samples);
  pieces.sample_losses =
      layout.add(Category::workspace, "sample_losses", samples * size_of(DType::f64));
  pieces.sample_hits =
      layout.add(Category::workspace, "sample_hits", samples * size_of(DType::i32));
  pieces.totals = layout.add(Category::workspace, "totals", 2 * size_of(DType::f64));
}

void add_exchange(const Place& place, ArenaLayout& layout, PlacePieces& pieces) {
  const std::size_t reduced = place.reduces ? place.flat_bytes() : 0;
  pieces.reduced = layout.add(Category::communication, "reduced_gradients", reduced);
  pieces.incoming = layout.add(Category::communication, "incoming_gradients",
                               place.host_accessible ? 0 : reduced);
}

PlaceMemory plan_place(const Place& place) {
  PlaceMemory out;
  out.active = true;
  PlacePieces& pieces = out.pieces;
  add_batch(place, out.lane, Category::inputs, pieces.inputs, pieces.targets, pieces.sample_ids);
  add_parameters(place, out.lane, pieces);
  for (const graph::Node& node : place.graph.nodes()) {
    add_node(place, node, out.lane, pieces);
  }
  add_added_gradients(place, out.lane, pieces);
  add_loss(place, out.lane, pieces);
  add_exchange(place, out.lane, pieces);
  if (!place.host_accessible) {
    StagingPieces& staged = out.staged;
    add_batch(place, out.staging, Category::communication, staged.inputs, staged.targets,
              staged.sample_ids);
    staged.gradients = out.staging.add(Category::communication, "sent_gradients",
                                       place.reduces ? place.flat_bytes() : 0);
    staged.totals = out.staging.add(Category::communication, "totals", 2 * size_of(DType::f64));
  }
  return out;
}

}  // namespace

std::vector<PlaceMemory> plan_memory(const graph::Graph& graph, const nn::Optimizer& optimizer,
                                     const schedule::Schedule& schedule,
                                     const std::vector<bool>& host_accessible, DType dtype,
                                     const TargetSpec& target) {
  std::vector<PlaceMemory> out(schedule.places.size());
  for (const schedule::Place id : schedule.active_places()) {
    const auto index = static_cast<std::size_t>(id);
    const bool reduces = std::ranges::any_of(schedule.tasks, [&](const schedule::Task& task) {
      return task.place == id && task.kind == schedule::TaskKind::all_reduce;
    });
    out[index] = plan_place({graph, optimizer, dtype, target, schedule.samples_of(id).count(),
                             host_accessible[index], reduces});
  }
  return out;
}

}  // namespace zygos::plan
