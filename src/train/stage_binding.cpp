// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/stage_binding.hpp"

#include <algorithm>
#include <array>

namespace zygos::train {
namespace {

using schedule::BufferKind;

Tensor rows(const Tensor& all, std::int64_t begin, std::int64_t count) {
  if (!all) {
    return all;
  }
  const std::int64_t whole = all.shape()[0];
  const std::size_t row_bytes = whole == 0 ? 0 : all.bytes() / static_cast<std::size_t>(whole);
  auto* first = static_cast<std::byte*>(all.raw()) + static_cast<std::size_t>(begin) * row_bytes;
  return Tensor(first, all.dtype(), all.shape()).first(count);
}

class Binder {
 public:
  Binder(const BindingSource& source, schedule::Place place, schedule::MicroBatch micro_batch,
         schedule::SampleRange samples)
      : source_(source),
        stage_(source.memory.stage),
        place_(place),
        micro_batch_(micro_batch),
        gradients_(source.graph.input_gradients()) {
    out_.samples = samples;
  }

  MicroBatchTensors bind() {
    bind_samples();
    out_.boundary = bind_nodes(BufferKind::boundary, stage_.boundary);
    out_.outputs = bind_nodes(BufferKind::outputs, stage_.outputs);
    out_.input_gradients = bind_nodes(BufferKind::input_gradients, stage_.input_gradients);
    out_.output_gradients = bind_nodes(BufferKind::output_gradients, stage_.output_gradients);
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

  /// A tensor of a planned buffer; an empty one if no task uses the buffer.
  Tensor at(BufferKind kind, std::int32_t slot, std::size_t index, DType dtype,
            const Shape& shape) const {
    const auto found = source_.memory.buffers.find({kind, place_, micro_batch_, slot, 0});
    if (found == source_.memory.buffers.end()) {
      return {};
    }
    const plan::PlannedBuffer& buffer = found->second;
    return {source_.arena.at(buffer.piece) + buffer.offset + buffer.tensors.at(index), dtype,
            shape};
  }

  Shape output_shape(graph::NodeId id) const { return node(id).output_shape.with_leading(count()); }

  void bind_samples() {
    const Shape inputs = source_.graph.input_shape().with_leading(count());
    const Shape targets = source_.target.shape.with_leading(count());
    out_.inputs = stage_.reads_input ? at(BufferKind::inputs, 0, 0,
                                          source_.graph.input_dtype(source_.dtype), inputs)
                                     : Tensor();
    out_.targets =
        stage_.is_last ? at(BufferKind::inputs, 0, 1, source_.target.dtype, targets) : Tensor();
    out_.ids = at(BufferKind::inputs, 0, 2, DType::u32, Shape{count()});
  }

  std::vector<Tensor> bind_nodes(BufferKind kind, const std::vector<graph::NodeId>& nodes) const {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      tensors.push_back(at(kind, 0, i, source_.dtype, output_shape(nodes[i])));
    }
    return tensors;
  }

  void bind_loss() {
    const std::size_t behind = stage_.output_gradients.size();
    auto* totals = source_.arena.at(source_.memory.pieces.totals) +
                   static_cast<std::size_t>(micro_batch_) * nn::loss_totals * size_of(DType::f64);
    const Shape judged{count() * source_.graph.loss().judged_per_sample(source_.target.shape)};
    out_.loss = {out_.outputs.back(),
                 out_.targets,
                 at(BufferKind::output_gradients, 0, behind, DType::f64, judged),
                 at(BufferKind::output_gradients, 0, behind + 1, DType::i32, judged),
                 out_.output_gradients.empty() ? Tensor() : out_.output_gradients.back(),
                 Tensor(totals, DType::f64, Shape{nn::loss_totals})};
  }

  /// Whole tensors inside the stage: outputs by activations slot, their gradients, added gradients.
  void bind_inside() {
    std::size_t output = 0;
    std::size_t gradient = 0;
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      const auto outside = plan::position(stage_.outputs, id);
      for (const std::size_t slot : {0U, 1U}) {
        inside_[slot].push_back(outside >= 0
                                    ? out_.outputs[static_cast<std::size_t>(outside)]
                                    : at(BufferKind::activations, static_cast<std::int32_t>(slot),
                                         output, source_.dtype, output_shape(id)));
      }
      output += static_cast<std::size_t>(outside < 0);
      d_inside_.push_back(bind_gradient(id, gradient));
    }
    outputs_inside_ = output;
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      auto& added = added_.emplace_back();
      const auto& kinds = gradients_[static_cast<std::size_t>(id)];
      for (std::size_t input = 0; input < kinds.size(); ++input) {
        const bool apart = kinds[input] == graph::InputGradient::added;
        added.push_back(apart ? at(BufferKind::scratch, 0, gradient++, source_.dtype,
                                   node(id).input_shapes[input].with_leading(count()))
                              : Tensor());
      }
    }
    scratch_inside_ = gradient;
  }

  Tensor bind_gradient(graph::NodeId id, std::size_t& next) const {
    const auto outside = plan::position(stage_.output_gradients, id);
    if (outside >= 0) {
      return out_.output_gradients[static_cast<std::size_t>(outside)];
    }
    return plan::has_backward(source_.graph, id)
               ? at(BufferKind::scratch, 0, next++, source_.dtype, output_shape(id))
               : Tensor();
  }

  void bind_slices() {
    const auto slices = schedule::slices_of(out_.samples, source_.chunk);
    // Memory for what layers keep was planned for a full micro-batch; the slices of this call are
    // its first ones.
    std::size_t kept = outputs_inside_;
    for (const schedule::SampleRange& samples : slices) {
      SliceTensors& slice = out_.slices.emplace_back();
      slice.samples = samples;
      slice.ids = part(out_.ids, samples);
      const std::size_t before = kept;
      slice.forward = bind_passes(samples, 0, 1, kept);
      kept = before;
      slice.recompute = bind_passes(samples, 1, 1, kept);
      kept = before;
      bind_backward(slice, kept);
    }
  }

  Tensor part(const Tensor& whole, const schedule::SampleRange& samples) const {
    return rows(whole, samples.begin - out_.samples.begin, samples.count());
  }

  /// Passes of all nodes with activations in `slot` and workspace in the scratch of
  /// `scratch_slot`; `kept` counts the tensors that layers keep.
  std::vector<NodePass> bind_passes(const schedule::SampleRange& samples, std::int32_t slot,
                                    std::int32_t scratch_slot, std::size_t& kept) const {
    std::vector<NodePass> passes;
    std::size_t scratch = scratch_slot == 0 ? scratch_inside_ : 0;
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      NodePass& pass = passes.emplace_back();
      for (const graph::NodeId source : node(id).inputs) {
        pass.inputs.push_back(part(source_of(source, slot), samples));
      }
      pass.output = part(inside(slot, id), samples);
      for (const auto& spec :
           node(id).layer->workspace(samples.count(), node(id).input_shapes, source_.dtype)) {
        pass.workspace.push_back(
            spec.kept ? at(BufferKind::activations, slot, kept++, spec.dtype, spec.shape)
                      : at(BufferKind::scratch, scratch_slot, scratch++, spec.dtype, spec.shape));
      }
    }
    return passes;
  }

  const Tensor& inside(std::int32_t slot, graph::NodeId id) const {
    return inside_[static_cast<std::size_t>(slot)]
                  [static_cast<std::size_t>(id - stage_.nodes.begin)];
  }

  const Tensor& source_of(graph::NodeId source, std::int32_t slot) const {
    if (source == graph::graph_input) {
      return out_.inputs;
    }
    return stage_.nodes.contains(source)
               ? inside(slot, source)
               : out_.boundary[static_cast<std::size_t>(plan::position(stage_.boundary, source))];
  }

  void bind_backward(SliceTensors& slice, std::size_t& kept) const {
    const bool recomputed = source_.memory.buffers.contains(
        schedule::Buffer{BufferKind::activations, place_, micro_batch_, 1, 0});
    auto passes = bind_passes(slice.samples, recomputed ? 1 : 0, 0, kept);
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
  schedule::Place place_;
  schedule::MicroBatch micro_batch_;
  std::vector<std::vector<graph::InputGradient>> gradients_;
  MicroBatchTensors out_;
  std::array<std::vector<Tensor>, 2> inside_;
  std::vector<Tensor> d_inside_;
  std::vector<std::vector<Tensor>> added_;
  std::size_t outputs_inside_ = 0;
  std::size_t scratch_inside_ = 0;
};

}  // namespace

MicroBatchTensors bind_micro_batch(const BindingSource& source, schedule::Place place,
                                   schedule::MicroBatch micro_batch,
                                   schedule::SampleRange samples) {
  return Binder(source, place, micro_batch, samples).bind();
}

}  // namespace zygos::train
