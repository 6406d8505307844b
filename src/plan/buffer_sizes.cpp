// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/buffer_sizes.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::plan {

using schedule::BufferKind;

BufferSizes::BufferSizes(const MemoryRequest& request, const StageTensors& stage,
                         schedule::SampleRange samples, std::int64_t chunk)
    : request_(request),
      stage_(stage),
      samples_(samples.count()),
      slices_(schedule::slices_of(samples, chunk)) {}

std::size_t BufferSizes::bytes(const Shape& sample) const {
  return static_cast<std::size_t>(samples_ * sample.size()) * size_of(request_.dtype);
}

std::vector<std::size_t> BufferSizes::of(const schedule::Buffer& buffer) const {
  switch (buffer.kind) {
    case BufferKind::inputs:
    case BufferKind::staging:
      return of_batch();
    case BufferKind::boundary:
      return of_nodes(stage_.boundary);
    case BufferKind::outputs:
      return of_nodes(stage_.outputs);
    case BufferKind::input_gradients:
      return of_nodes(stage_.input_gradients);
    case BufferKind::activations:
      return of_activations();
    case BufferKind::output_gradients:
      return of_losses();
    case BufferKind::scratch: {
      if (buffer.slot == 0) {
        return of_scratch();
      }
      std::vector<std::size_t> sizes;
      add_workspace(sizes, false, slices_.front());
      return sizes;
    }
    default:
      throw InternalError("buffers of kind '" + std::string(name_of(buffer.kind)) +
                          "' do not consist of samples");
  }
}

std::vector<std::size_t> BufferSizes::of_batch() const {
  const auto samples = static_cast<std::size_t>(samples_);
  const TargetSpec& target = request_.target;
  const std::size_t targets =
      samples * static_cast<std::size_t>(target.shape.size()) * size_of(target.dtype);
  return {stage_.reads_input ? bytes(request_.graph.input_shape()) : 0,
          stage_.is_last ? targets : 0, samples * size_of(DType::u32)};
}

std::vector<std::size_t> BufferSizes::of_nodes(const std::vector<graph::NodeId>& nodes) const {
  std::vector<std::size_t> sizes;
  for (const graph::NodeId node : nodes) {
    sizes.push_back(bytes(request_.graph.nodes()[static_cast<std::size_t>(node)].output_shape));
  }
  return sizes;
}

void BufferSizes::add_workspace(std::vector<std::size_t>& sizes, bool kept,
                                schedule::SampleRange slice) const {
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    const graph::Node& node = request_.graph.nodes()[static_cast<std::size_t>(id)];
    for (const auto& spec :
         node.layer->workspace(slice.count(), node.input_shapes, request_.dtype)) {
      if (spec.kept == kept) {
        sizes.push_back(static_cast<std::size_t>(spec.shape.size()) * size_of(spec.dtype));
      }
    }
  }
}

std::vector<std::size_t> BufferSizes::of_activations() const {
  std::vector<std::size_t> sizes;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    if (position(stage_.outputs, id) < 0) {
      sizes.push_back(bytes(request_.graph.nodes()[static_cast<std::size_t>(id)].output_shape));
    }
  }
  for (const schedule::SampleRange& slice : slices_) {
    add_workspace(sizes, true, slice);
  }
  return sizes;
}

std::vector<std::size_t> BufferSizes::of_losses() const {
  std::vector<std::size_t> sizes = of_nodes(stage_.output_gradients);
  if (stage_.is_last) {
    const auto judged = static_cast<std::size_t>(
        samples_ * request_.graph.loss().judged_per_sample(request_.target.shape));
    sizes.push_back(judged * size_of(DType::f64));
    sizes.push_back(judged * size_of(DType::i32));
  }
  return sizes;
}

std::vector<std::size_t> BufferSizes::of_scratch() const {
  std::vector<std::size_t> sizes;
  const auto nodes = request_.graph.nodes();
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    if (position(stage_.output_gradients, id) < 0 && has_backward(request_.graph, id)) {
      sizes.push_back(bytes(nodes[static_cast<std::size_t>(id)].output_shape));
    }
  }
  const auto gradients = request_.graph.input_gradients();
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    const auto index = static_cast<std::size_t>(id);
    for (std::size_t input = 0; input < gradients[index].size(); ++input) {
      if (gradients[index][input] == graph::InputGradient::added) {
        sizes.push_back(bytes(nodes[index].input_shapes[input]));
      }
    }
  }
  add_workspace(sizes, false, slices_.front());
  return sizes;
}

}  // namespace zygos::plan
