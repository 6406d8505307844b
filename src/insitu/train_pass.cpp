// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/train_pass.hpp"

#include <algorithm>

namespace zygos::insitu {

using graph::InputGradient;
using graph::NodeId;

TrainPass::TrainPass(const graph::Graph& graph, DType activations, std::int64_t samples)
    : graph_(graph),
      activations_(activations),
      samples_(samples),
      gradients_(graph.input_gradients()),
      nodes_(graph.nodes().size()) {
  plan_samples();
  plans_.resize(nodes_.size());
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    plan_node(static_cast<NodeId>(id));
  }
  plan_loss();
  bytes_ = memory::pack(live_);
}

TrainPass::Index TrainPass::plan(DType dtype, const Shape& shape, std::int64_t first,
                                 std::int64_t last) {
  tensors_.emplace_back(nullptr, dtype, shape);
  live_.push_back(
      {memory::padded(static_cast<std::size_t>(shape.size()) * size_of(dtype)), first, last});
  return tensors_.size() - 1;
}

std::int64_t TrainPass::loss_moment() const {
  return static_cast<std::int64_t>(graph_.nodes().size()) + 1;
}

std::int64_t TrainPass::backward_of(NodeId id) const { return 2 * loss_moment() - 1 - id; }

bool TrainPass::has_backward(NodeId id) const { return graph_.has_backward(id); }

std::pair<std::int64_t, std::int64_t> TrainPass::readers_backward(NodeId id) const {
  std::pair<std::int64_t, std::int64_t> range{loss_moment(), loss_moment()};
  bool found = false;
  const auto nodes = graph_.nodes();
  for (std::size_t reader = 0; reader < nodes.size(); ++reader) {
    const auto reader_id = static_cast<NodeId>(reader);
    if (std::ranges::find(nodes[reader].inputs, id) == nodes[reader].inputs.end()) {
      continue;
    }
    const std::int64_t moment =
        has_backward(reader_id) ? backward_of(reader_id) : forward_of(reader_id);
    range = found ? std::pair(std::min(range.first, moment), std::max(range.second, moment))
                  : std::pair(moment, moment);
    found = true;
  }
  return range;
}

void TrainPass::plan_samples() {
  const std::int64_t end = backward_of(0);
  input_ = plan(graph_.input_dtype(activations_), graph_.input_shape().with_leading(samples_), 0,
                std::max(end, readers_backward(graph::graph_input).second));
  target_ =
      plan(wide(activations_), graph_.output_shape().with_leading(samples_), 0, loss_moment());
  ids_ = plan(DType::u32, Shape{samples_}, 0, end);
}

void TrainPass::plan_node(NodeId id) {
  const auto index = static_cast<std::size_t>(id);
  const graph::Node& node = graph_.nodes()[index];
  NodePlan& planned = plans_[index];
  const Shape output = node.output_shape.with_leading(samples_);
  const bool back = has_backward(id);
  const auto [first_read_back, last_read_back] = readers_backward(id);
  const std::int64_t last = std::max(last_read_back, back ? backward_of(id) : forward_of(id));
  planned.output = plan(activations_, output, forward_of(id), last);
  for (const nn::WorkspaceSpec& spec :
       node.layer->workspace(samples_, node.input_shapes, activations_)) {
    const std::int64_t until = spec.kept && back ? backward_of(id) : forward_of(id);
    planned.forward_workspace.push_back(plan(spec.dtype, spec.shape, forward_of(id), until));
    planned.backward_workspace.push_back(
        spec.kept || !back ? planned.forward_workspace.back()
                           : plan(spec.dtype, spec.shape, backward_of(id), backward_of(id)));
  }
  planned.d_output = back ? plan(activations_, output, first_read_back, backward_of(id)) : none;
  for (std::size_t input = 0; input < node.inputs.size(); ++input) {
    const bool added = back && gradients_[index][input] == InputGradient::added;
    planned.added.push_back(added ? plan(activations_,
                                         node.input_shapes[input].with_leading(samples_),
                                         backward_of(id), backward_of(id))
                                  : none);
  }
}

void TrainPass::plan_loss() {
  const Shape scored{samples_ * graph_.loss().valid_per_sample(graph_.output_shape())};
  sample_losses_ = plan(DType::f64, scored, loss_moment(), loss_moment());
  sample_hits_ = plan(DType::i32, scored, loss_moment(), loss_moment());
  // Read after the way back.
  totals_ = plan(DType::f64, Shape{nn::loss_totals}, loss_moment(), backward_of(0) + 1);
}

void TrainPass::bind(std::byte* workspace) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i] = Tensor(workspace + live_[i].offset, tensors_[i].dtype(), tensors_[i].shape());
  }
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    bind_node(static_cast<NodeId>(id));
  }
  const NodePlan& last = plans_.back();
  loss_ = {at(last.output),         at(target_), at(sample_losses_), at(sample_hits_),
           optional(last.d_output), at(totals_)};
}

void TrainPass::bind_node(NodeId id) {
  const auto index = static_cast<std::size_t>(id);
  const NodePlan& planned = plans_[index];
  NodeStep step;
  const auto bound = [&](const std::vector<Index>& all) {
    std::vector<Tensor> tensors;
    std::ranges::transform(all, std::back_inserter(tensors), [&](Index one) { return at(one); });
    return tensors;
  };
  step.output = at(planned.output);
  step.forward_workspace = bound(planned.forward_workspace);
  step.backward_workspace = bound(planned.backward_workspace);
  step.runs_backward = has_backward(id);
  step.d_output = optional(planned.d_output);
  const auto& sources = graph_.nodes()[index].inputs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool outside = sources[i] == graph::graph_input;
    const auto source = static_cast<std::size_t>(outside ? 0 : sources[i]);
    step.inputs.push_back(outside ? at(input_) : at(plans_[source].output));
    if (outside || gradients_[index][i] == InputGradient::unwanted) {
      step.d_inputs.emplace_back();
      continue;
    }
    const Tensor whole = optional(plans_[source].d_output);
    const Tensor apart = optional(planned.added[i]);
    step.d_inputs.push_back(apart ? apart : whole);
    if (apart) {
      step.added.emplace_back(apart, whole);
    }
  }
  nodes_[index] = std::move(step);
}

}  // namespace zygos::insitu
