// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place_runner.hpp"

#include "ops/elementwise.hpp"
#include "train/gather_rows.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>

namespace zygos::train {

using schedule::TaskKind;

PlaceRunner::PlaceRunner(const PlaceSetup& setup, plan::PlaceMemory memory)
    : setup_(setup),
      memory_(std::move(memory)),
      arena_(memory_.lane, setup.lane.name(), setup.lane.spec().budget_bytes,
             setup.lane.allocator()),
      staging_(memory_.staging, setup.lane.name() + "_staging", 0, setup.lane.staging_allocator()),
      nodes_(setup.graph.nodes().size()),
      input_gradients_(setup.graph.input_gradients()) {
  bind_parameters();
  bind_samples(setup_.samples.count());
}

Tensor PlaceRunner::at(std::size_t piece, DType dtype, const Shape& shape) const {
  return {arena_.at(piece), dtype, shape};
}

Tensor PlaceRunner::staged(std::size_t piece, DType dtype, const Shape& shape) const {
  return {staging_.at(piece), dtype, shape};
}

void PlaceRunner::bind_parameters() {
  const auto& pieces = memory_.pieces;
  const Shape flat{setup_.graph.parameter_elements()};
  update_.weights = at(pieces.weights, setup_.dtype, flat);
  gradients_ = at(pieces.gradients, setup_.dtype, flat);
  reduced_ = at(pieces.reduced, setup_.dtype, flat);
  incoming_ = at(pieces.incoming, setup_.dtype, flat);
  for (const std::size_t state : pieces.states) {
    update_.states.push_back(at(state, setup_.dtype, flat));
  }
  if (setup_.optimizer.uses_decay()) {
    update_.decay_mask = at(pieces.decay_mask, DType::u8, flat);
  }
  const auto part = [&](const Tensor& whole, const graph::Parameter& parameter) {
    auto* begin = static_cast<std::byte*>(whole.raw()) +
                  static_cast<std::size_t>(parameter.offset) * size_of(setup_.dtype);
    return Tensor(begin, setup_.dtype, parameter.shape);
  };
  for (const graph::Parameter& parameter : setup_.graph.parameters()) {
    NodeTensors& node = nodes_[static_cast<std::size_t>(parameter.node)];
    node.parameters.push_back(part(update_.weights, parameter));
    node.d_parameters.push_back(part(gradients_, parameter));
  }
}

void PlaceRunner::bind_samples(std::int64_t count) {
  const auto& pieces = memory_.pieces;
  const auto nodes = setup_.graph.nodes();
  count_ = count;
  inputs_ = at(pieces.inputs, setup_.dtype, setup_.graph.input_shape().with_leading(count));
  targets_ = at(pieces.targets, setup_.target.dtype, setup_.target.shape.with_leading(count));
  sample_ids_ = at(pieces.sample_ids, DType::u32, Shape{count});
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    bind_node(node, count);
  }
  loss_ = {nodes_.back().output,
           targets_,
           at(pieces.sample_losses, DType::f64, Shape{count}),
           at(pieces.sample_hits, DType::i32, Shape{count}),
           nodes_.back().d_output,
           at(pieces.totals, DType::f64, Shape{2})};
}

void PlaceRunner::bind_node(std::size_t index, std::int64_t count) {
  const auto& pieces = memory_.pieces;
  const graph::Node& node = setup_.graph.nodes()[index];
  NodeTensors& bound = nodes_[index];
  bound.output = at(pieces.outputs[index], setup_.dtype, node.output_shape.with_leading(count));
  bound.d_output = at(pieces.d_outputs[index], setup_.dtype, node.output_shape.with_leading(count));
  bound.has_backward = node.wants_d_input || !bound.parameters.empty();
  bound.inputs.clear();
  for (const graph::NodeId source : node.inputs) {
    const bool is_input = source == graph::graph_input;
    bound.inputs.push_back(is_input ? inputs_ : nodes_[static_cast<std::size_t>(source)].output);
  }
  bind_input_gradients(index);
  const auto specs = node.layer->workspace(count, node.input_shapes, setup_.dtype);
  bound.workspace.clear();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    bound.workspace.push_back(at(pieces.workspace[index][i], specs[i].dtype, specs[i].shape));
  }
}

void PlaceRunner::bind_input_gradients(std::size_t index) {
  const graph::Node& node = setup_.graph.nodes()[index];
  NodeTensors& bound = nodes_[index];
  bound.d_inputs.clear();
  bound.added.clear();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const graph::InputGradient kind = input_gradients_[index][i];
    if (kind == graph::InputGradient::unwanted) {
      bound.d_inputs.emplace_back();
      continue;
    }
    const Tensor& whole = nodes_[static_cast<std::size_t>(node.inputs[i])].d_output;
    if (kind == graph::InputGradient::written) {
      bound.d_inputs.push_back(whole);
      continue;
    }
    const std::size_t piece = memory_.pieces.added_gradients[index][bound.added.size()];
    const Tensor part = at(piece, setup_.dtype, whole.shape());
    bound.d_inputs.push_back(part);
    bound.added.emplace_back(part, whole);
  }
}

nn::Context PlaceRunner::context(std::size_t node) const {
  return {setup_.lane.execution(),          inputs_of_call_.mode, setup_.seed, inputs_of_call_.step,
          static_cast<std::uint32_t>(node), sample_ids_};
}

void PlaceRunner::begin(const StepInputs& inputs) {
  inputs_of_call_ = inputs;
  const std::int64_t given = inputs.batch->samples();
  range_ = {std::min(setup_.samples.begin, given), std::min(setup_.samples.end, given)};
  if (range_.count() != count_) {
    bind_samples(range_.count());
  }
  // Evaluation has no use for the prediction's gradient; an empty tensor says so.
  loss_.d_prediction = inputs.mode == nn::Mode::train ? nodes_.back().d_output : Tensor();
}

void PlaceRunner::run(const schedule::Task& task, std::span<PlaceRunner* const> peers) {
  switch (task.kind) {
    case TaskKind::load:
      return load();
    case TaskKind::copy:
      return copy_in();
    case TaskKind::forward:
      return forward(task.nodes);
    case TaskKind::loss:
      return loss();
    case TaskKind::backward:
      return backward(task.nodes);
    case TaskKind::send:
      return send();
    case TaskKind::all_reduce:
      return all_reduce(peers);
    case TaskKind::update:
      return update(std::ranges::any_of(task.reads, [](const schedule::Buffer& buffer) {
        return buffer.kind == schedule::BufferKind::reduced_gradients;
      }));
  }
  throw InternalError("the engine cannot execute a task of this kind");
}

void PlaceRunner::load() {
  if (count_ == 0) {
    return;
  }
  const Batch& batch = *inputs_of_call_.batch;
  const auto ids = batch.ids.subspan(static_cast<std::size_t>(range_.begin),
                                     static_cast<std::size_t>(range_.count()));
  const bool direct = setup_.lane.host_accessible();
  const auto& staged_pieces = memory_.staged;
  const Tensor inputs =
      direct ? inputs_ : staged(staged_pieces.inputs, setup_.dtype, inputs_.shape());
  const Tensor targets =
      direct ? targets_ : staged(staged_pieces.targets, setup_.target.dtype, targets_.shape());
  const Tensor kept =
      direct ? sample_ids_ : staged(staged_pieces.sample_ids, DType::u32, sample_ids_.shape());
  gather_rows(setup_.lane, batch.inputs, ids, inputs);
  gather_rows(setup_.lane, batch.targets, ids, targets);
  std::ranges::copy(ids, kept.data<std::uint32_t>());
}

void PlaceRunner::copy_in() const {
  if (count_ == 0) {
    return;
  }
  // Inputs, targets and ids lie in the same order at the same distances on both sides, so that a
  // link's latency is paid once.
  const auto* from = staging_.at(memory_.staged.inputs);
  const auto* end = staging_.at(memory_.staged.sample_ids) + sample_ids_.bytes();
  setup_.lane.copy_to_lane(inputs_.raw(), from, static_cast<std::size_t>(end - from),
                           "zygos::train::copy_batch");
}

void PlaceRunner::forward(schedule::NodeRange nodes) const {
  for (auto i = nodes.begin; count_ > 0 && i < nodes.end; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const NodeTensors& node = nodes_[index];
    setup_.graph.nodes()[index].layer->forward(
        context(index), {node.inputs, node.parameters, node.workspace, node.output});
  }
}

void PlaceRunner::loss() const {
  setup_.graph.loss().evaluate(setup_.lane.execution(), loss_, inputs_of_call_.batch->samples());
  if (!setup_.lane.host_accessible()) {
    setup_.lane.copy_to_host(staging_.at(memory_.staged.totals), loss_.totals.raw(),
                             loss_.totals.bytes(), "zygos::train::copy_totals");
  }
}

void PlaceRunner::backward(schedule::NodeRange nodes) const {
  if (count_ == 0) {
    return zero_gradients();
  }
  for (auto i = nodes.end; i-- > nodes.begin;) {
    const auto index = static_cast<std::size_t>(i);
    const NodeTensors& node = nodes_[index];
    if (node.has_backward) {
      setup_.graph.nodes()[index].layer->backward(
          context(index), {node.inputs, node.parameters, node.workspace, node.output, node.d_output,
                           node.d_inputs, node.d_parameters});
      add_gradients(node);
    }
  }
}

void PlaceRunner::add_gradients(const NodeTensors& node) const {
  for (const auto& [part, whole] : node.added) {
    lane::dispatch(setup_.lane.execution(), setup_.dtype, [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::add(exec, vector_view<Exec, T>(whole), vector_view<Exec, const T>(part));
    });
  }
}

void PlaceRunner::zero_gradients() const {
  lane::dispatch(setup_.lane.execution(), setup_.dtype, [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::fill(exec, vector_view<Exec, T>(gradients_), T(0));
  });
}

void PlaceRunner::send() const {
  if (!setup_.lane.host_accessible()) {
    setup_.lane.copy_to_host(staging_.at(memory_.staged.gradients), gradients_.raw(),
                             gradients_.bytes(), "zygos::train::send_gradients");
  }
}

const void* PlaceRunner::sent_gradients() const {
  return setup_.lane.host_accessible() ? gradients_.raw() : staging_.at(memory_.staged.gradients);
}

Tensor PlaceRunner::operand(const PlaceRunner& peer, const Tensor& landing) const {
  if (&peer == this) {
    return gradients_;
  }
  if (setup_.lane.host_accessible()) {
    return {const_cast<void*>(peer.sent_gradients()), setup_.dtype, gradients_.shape()};
  }
  setup_.lane.copy_to_lane(landing.raw(), peer.sent_gradients(), landing.bytes(),
                           "zygos::train::receive_gradients");
  return landing;
}

void PlaceRunner::all_reduce(std::span<PlaceRunner* const> peers) const {
  // Always the same order, by place, so that every replica gets the same bits.
  Tensor sum;
  for (const PlaceRunner* peer : peers) {
    if (peer == nullptr) {
      continue;
    }
    const Tensor term = operand(*peer, sum ? incoming_ : reduced_);
    if (!sum) {
      sum = term;
      continue;
    }
    lane::dispatch(setup_.lane.execution(), setup_.dtype, [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::sum(exec, vector_view<Exec, T>(reduced_), vector_view<Exec, const T>(sum),
               vector_view<Exec, const T>(term));
    });
    sum = reduced_;
  }
}

void PlaceRunner::update(bool reduced) {
  update_.gradient = reduced ? reduced_ : gradients_;
  update_.step = inputs_of_call_.step;
  setup_.optimizer.update(setup_.lane.execution(), update_);
}

void PlaceRunner::write_decay_mask() const {
  if (!update_.decay_mask) {
    return;
  }
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(update_.decay_mask.size()), 0);
  for (const graph::Parameter& parameter : setup_.graph.parameters()) {
    std::fill_n(mask.begin() + parameter.offset, parameter.shape.size(),
                static_cast<std::uint8_t>(parameter.decay ? 1 : 0));
  }
  setup_.lane.copy_to_lane(update_.decay_mask.raw(), mask.data(), mask.size(),
                           "zygos::train::decay_mask");
  setup_.lane.fence("zygos::train::decay_mask");
}

const double* PlaceRunner::host_totals() const {
  return setup_.lane.host_accessible()
             ? loss_.totals.data<double>()
             : staged(memory_.staged.totals, DType::f64, Shape{2}).data<double>();
}

}  // namespace zygos::train
