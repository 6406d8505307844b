// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/place/stage_binding.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <string>

namespace zygos::train {
namespace {

using plan::Role;
using plan::SlotName;
using schedule::BufferKind;

class Binder {
 public:
  Binder(const BindingSource& source, schedule::MicroBatch micro_batch,
         schedule::SampleRange samples)
      : source_(source),
        stage_(source.buffers.plan().stage),
        micro_batch_(micro_batch),
        gradients_(source.graph.input_gradients()) {
    out_.samples = samples;
  }

  MicroBatchTensors bind() {
    bind_samples();
    out_.boundary = bind_nodes(BufferKind::boundary, Role::output, stage_.boundary);
    out_.outputs = bind_nodes(BufferKind::outputs, Role::output, stage_.outputs);
    out_.input_gradients =
        bind_nodes(BufferKind::input_gradients, Role::output_gradient, stage_.input_gradients);
    out_.output_gradients =
        bind_nodes(BufferKind::output_gradients, Role::output_gradient, stage_.output_gradients);
    if (stage_.is_last) {
      bind_loss();
    }
    bind_inside();
    if (count() > 0) {
      bind_slices();
    }
    return std::move(out_);
  }

 private:
  std::int64_t count() const { return out_.samples.count(); }

  const graph::Node& node(graph::NodeId id) const {
    return source_.graph.nodes()[static_cast<std::size_t>(id)];
  }

  /// A slot of a planned buffer as a tensor; an empty one if no task uses the buffer.
  Tensor at(BufferKind kind, std::int32_t slot, const SlotName& name, DType dtype,
            const Shape& shape, std::int32_t part = 0) const {
    const plan::PlannedBuffer* buffer = source_.buffers.find(kind, slot, part, micro_batch_);
    return buffer == nullptr ? Tensor() : source_.buffers.bind(*buffer, name, dtype, shape);
  }

  std::int32_t segment_of(graph::NodeId id) const {
    return schedule::segment_of(source_.schedule, id);
  }

  /// Slot in which backward finds the activations of a node: those of forward if they were kept.
  std::int32_t kept_slot(graph::NodeId id) const {
    return source_.buffers.find(BufferKind::activations, 1, segment_of(id), micro_batch_) != nullptr
               ? 1
               : 0;
  }

  Shape output_shape(graph::NodeId id) const { return node(id).output_shape.with_leading(count()); }

  void bind_samples() {
    const auto in_batch = [&](Role role, DType dtype, const Shape& shape) {
      return at(BufferKind::inputs, source_.batch_slot, {role}, dtype, shape);
    };
    const Shape inputs = source_.graph.input_shape().with_leading(count());
    const Shape targets = source_.target.shape.with_leading(count());
    out_.inputs = stage_.reads_input ? in_batch(Role::model_input,
                                                source_.graph.input_dtype(source_.dtype), inputs)
                                     : Tensor();
    out_.targets =
        stage_.is_last ? in_batch(Role::target, source_.target.dtype, targets) : Tensor();
    out_.ids = in_batch(Role::sample_ids, DType::u32, Shape{count()});
  }

  std::vector<Tensor> bind_nodes(BufferKind kind, Role role,
                                 const std::vector<graph::NodeId>& nodes) const {
    std::vector<Tensor> tensors;
    for (const graph::NodeId id : nodes) {
      tensors.push_back(at(kind, 0, {role, id}, source_.dtype, output_shape(id)));
    }
    return tensors;
  }

  void bind_loss() {
    const Tensor totals = source_.buffers.whole(BufferKind::loss_totals, DType::f64,
                                                Shape{micro_batch_ + 1, nn::loss_totals});
    const Shape scored{count() * source_.graph.loss().valid_per_sample(source_.target.shape)};
    out_.loss = {
        out_.outputs.back(),
        out_.targets,
        at(BufferKind::output_gradients, 0, {Role::loss_values}, DType::f64, scored),
        at(BufferKind::output_gradients, 0, {Role::loss_hits}, DType::i32, scored),
        out_.output_gradients.empty() ? Tensor() : out_.output_gradients.back(),
        totals ? rows_of(totals, micro_batch_, 1).reshaped(Shape{nn::loss_totals}) : totals};
  }

  /// Whole tensors inside the stage: outputs by activations slot, their gradients, added gradients.
  void bind_inside() {
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      const auto outside = plan::position(stage_.outputs, id);
      for (const std::int32_t slot : {0, 1}) {
        inside_[static_cast<std::size_t>(slot)].push_back(
            outside >= 0 ? out_.outputs[static_cast<std::size_t>(outside)]
                         : at(BufferKind::activations, slot, {Role::output, id}, source_.dtype,
                              output_shape(id), segment_of(id)));
      }
      d_inside_.push_back(bind_gradient(id));
      auto& added = added_.emplace_back();
      const auto& kinds = gradients_[static_cast<std::size_t>(id)];
      for (std::size_t input = 0; input < kinds.size(); ++input) {
        const SlotName name{Role::added_gradient, id, static_cast<std::int32_t>(input)};
        added.push_back(kinds[input] == graph::InputGradient::added
                            ? at(BufferKind::scratch, 0, name, source_.dtype,
                                 node(id).input_shapes[input].with_leading(count()))
                            : Tensor());
      }
    }
  }

  Tensor bind_gradient(graph::NodeId id) const {
    const auto outside = plan::position(stage_.output_gradients, id);
    if (outside >= 0) {
      return out_.output_gradients[static_cast<std::size_t>(outside)];
    }
    return plan::has_backward(source_.graph, id)
               ? at(BufferKind::scratch, 0, {Role::output_gradient, id}, source_.dtype,
                    output_shape(id))
               : Tensor();
  }

  void bind_slices() {
    // Memory was planned for a full micro-batch; the slices of this call are its first ones.
    const auto slices = schedule::slices_of(out_.samples, source_.schedule.chunk);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      SliceTensors& slice = out_.slices.emplace_back();
      slice.samples = slices[i];
      slice.ids = part(out_.ids, slices[i]);
      const auto number = static_cast<std::int32_t>(i);
      slice.forward = bind_passes(slices[i], number, false, 1);
      slice.recompute = bind_passes(slices[i], number, true, 1);
      bind_backward(slice, number);
    }
  }

  Tensor part(const Tensor& whole, const schedule::SampleRange& samples) const {
    return rows_of(whole, samples.begin - out_.samples.begin, samples.count());
  }

  /// Passes of all nodes over slice number `slice`, with the activations that forward makes or
  /// those that are there for backward, and workspace in the scratch of `scratch_slot`.
  std::vector<NodePass> bind_passes(const schedule::SampleRange& samples, std::int32_t slice,
                                    bool for_backward, std::int32_t scratch_slot) const {
    std::vector<NodePass> passes;
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      NodePass& pass = passes.emplace_back();
      for (const graph::NodeId source : node(id).inputs) {
        pass.inputs.push_back(part(source_of(source, for_backward), samples));
      }
      const std::int32_t slot = for_backward ? kept_slot(id) : 0;
      pass.output = part(inside(slot, id), samples);
      const auto specs =
          node(id).layer->workspace(samples.count(), node(id).input_shapes, source_.dtype);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const nn::WorkspaceSpec& spec = specs[i];
        const auto index = static_cast<std::int32_t>(i);
        pass.workspace.push_back(
            spec.kept ? at(BufferKind::activations, slot, {Role::kept_workspace, id, index, slice},
                           spec.dtype, spec.shape, segment_of(id))
                      : at(BufferKind::scratch, scratch_slot, {Role::scratch_workspace, id, index},
                           spec.dtype, spec.shape));
      }
    }
    return passes;
  }

  const Tensor& inside(std::int32_t slot, graph::NodeId id) const {
    return inside_[static_cast<std::size_t>(slot)]
                  [static_cast<std::size_t>(id - stage_.nodes.begin)];
  }

  const Tensor& source_of(graph::NodeId source, bool for_backward) const {
    if (source == graph::graph_input) {
      return out_.inputs;
    }
    return stage_.nodes.contains(source)
               ? inside(for_backward ? kept_slot(source) : 0, source)
               : out_.boundary[static_cast<std::size_t>(plan::position(stage_.boundary, source))];
  }

  void bind_backward(SliceTensors& slice, std::int32_t number) const {
    auto passes = bind_passes(slice.samples, number, true, 0);
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      const auto index = static_cast<std::size_t>(id - stage_.nodes.begin);
      NodeBackward& bound = slice.backward.emplace_back();
      bound.pass = std::move(passes[index]);
      bound.d_output = part(d_inside_[index], slice.samples);
      bound.runs = plan::has_backward(source_.graph, id);
      bind_input_gradients(bound, id, slice.samples);
    }
  }

  void bind_input_gradients(NodeBackward& bound, graph::NodeId id,
                            const schedule::SampleRange& samples) const {
    const auto& sources = node(id).inputs;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto kind = gradients_[static_cast<std::size_t>(id)][i];
      if (kind == graph::InputGradient::unwanted) {
        bound.d_inputs.emplace_back();
        continue;
      }
      const Tensor whole = part(gradient_of(sources[i]), samples);
      if (kind == graph::InputGradient::written) {
        bound.d_inputs.push_back(whole);
        continue;
      }
      const Tensor& apart = added_[static_cast<std::size_t>(id - stage_.nodes.begin)][i];
      bound.d_inputs.push_back(part(apart, samples));
      bound.added.emplace_back(bound.d_inputs.back(), whole);
    }
  }

  const Tensor& gradient_of(graph::NodeId source) const {
    return stage_.nodes.contains(source)
               ? d_inside_[static_cast<std::size_t>(source - stage_.nodes.begin)]
               : out_.input_gradients[static_cast<std::size_t>(
                     plan::position(stage_.input_gradients, source))];
  }

  const BindingSource& source_;
  const plan::StageTensors& stage_;
  schedule::MicroBatch micro_batch_;
  std::vector<std::vector<graph::InputGradient>> gradients_;
  MicroBatchTensors out_;
  std::array<std::vector<Tensor>, 2> inside_;
  std::vector<Tensor> d_inside_;
  std::vector<std::vector<Tensor>> added_;
};

}  // namespace

MicroBatchTensors bind_micro_batch(const BindingSource& source, schedule::MicroBatch micro_batch,
                                   schedule::SampleRange samples) {
  return Binder(source, micro_batch, samples).bind();
}

}  // namespace zygos::train
