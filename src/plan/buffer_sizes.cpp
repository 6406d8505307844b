// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/buffer_sizes.hpp"

#include "plan/packing.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::plan {

using schedule::BufferKind;

namespace {

BufferLayout one_behind_the_other(const std::vector<std::size_t>& sizes) {
  BufferLayout layout;
  for (const std::size_t bytes : sizes) {
    layout.tensors.push_back(layout.bytes);
    layout.bytes += padded(bytes);
  }
  return layout;
}

BufferLayout packed(std::vector<Spell> spells) {
  BufferLayout layout;
  for (Spell& spell : spells) {
    spell.bytes = padded(spell.bytes);
  }
  layout.bytes = pack(spells);
  for (const Spell& spell : spells) {
    layout.tensors.push_back(spell.offset);
  }
  return layout;
}

std::vector<std::size_t> sizes_of(const std::vector<Spell>& spells) {
  std::vector<std::size_t> sizes;
  std::ranges::transform(spells, std::back_inserter(sizes), &Spell::bytes);
  return sizes;
}

}  // namespace

BufferSizes::BufferSizes(const MemoryRequest& request, const StageTensors& stage,
                         schedule::SampleRange samples, std::int64_t chunk, bool trains)
    : request_(request),
      stage_(stage),
      samples_(samples.count()),
      slices_(schedule::slices_of(samples, chunk)),
      trains_(trains) {}

std::size_t BufferSizes::bytes(const Shape& sample) const {
  return static_cast<std::size_t>(samples_ * sample.size()) * size_of(request_.dtype);
}

BufferLayout BufferSizes::of(const schedule::Buffer& buffer) const {
  switch (buffer.kind) {
    case BufferKind::inputs:
    case BufferKind::staging:
      return one_behind_the_other(of_batch());
    case BufferKind::boundary:
      return one_behind_the_other(of_nodes(stage_.boundary));
    case BufferKind::outputs:
      return one_behind_the_other(of_nodes(stage_.outputs));
    case BufferKind::input_gradients:
      return one_behind_the_other(of_nodes(stage_.input_gradients));
    case BufferKind::activations:
      return of_activations();
    case BufferKind::output_gradients:
      return one_behind_the_other(of_losses());
    case BufferKind::scratch:
      return buffer.slot == 0 ? of_backward_scratch() : of_forward_scratch();
    default:
      throw InternalError("buffers of kind '" + std::string(name_of(buffer.kind)) +
                          "' do not consist of samples");
  }
}

BufferSizes::Sizes BufferSizes::of_batch() const {
  const auto samples = static_cast<std::size_t>(samples_);
  const TargetSpec& target = request_.target;
  const std::size_t targets =
      samples * static_cast<std::size_t>(target.shape.size()) * size_of(target.dtype);
  const graph::Graph& graph = request_.graph;
  const std::size_t inputs = samples * static_cast<std::size_t>(graph.input_shape().size()) *
                             size_of(graph.input_dtype(request_.dtype));
  return {stage_.reads_input ? inputs : 0, stage_.is_last ? targets : 0,
          samples * size_of(DType::u32)};
}

BufferSizes::Sizes BufferSizes::of_nodes(const std::vector<graph::NodeId>& nodes) const {
  Sizes sizes;
  for (const graph::NodeId node : nodes) {
    sizes.push_back(bytes(request_.graph.nodes()[static_cast<std::size_t>(node)].output_shape));
  }
  return sizes;
}

BufferSizes::Sizes BufferSizes::workspace(graph::NodeId id, bool kept,
                                          schedule::SampleRange slice) const {
  const graph::Node& node = request_.graph.nodes()[static_cast<std::size_t>(id)];
  Sizes sizes;
  for (const auto& spec : node.layer->workspace(slice.count(), node.input_shapes, request_.dtype)) {
    if (spec.kept == kept) {
      sizes.push_back(static_cast<std::size_t>(spec.shape.size()) * size_of(spec.dtype));
    }
  }
  return sizes;
}

BufferLayout BufferSizes::of_activations() const {
  const auto nodes = request_.graph.nodes();
  const auto last = last_readers();
  // Where a task may stop at a node with several slices under way, each needs all that it made.
  const bool all_stay = trains_ || slices_.size() > 1;
  std::vector<Spell> spells;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    if (position(stage_.outputs, id) < 0) {
      spells.push_back({bytes(nodes[static_cast<std::size_t>(id)].output_shape), id,
                        last[static_cast<std::size_t>(id - stage_.nodes.begin)], 0});
    }
  }
  for (const schedule::SampleRange& slice : slices_) {
    for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
      for (const std::size_t size : workspace(id, true, slice)) {
        spells.push_back({size, id, id, 0});
      }
    }
  }
  return all_stay ? one_behind_the_other(sizes_of(spells)) : packed(std::move(spells));
}

BufferSizes::Sizes BufferSizes::of_losses() const {
  Sizes sizes = of_nodes(stage_.output_gradients);
  if (stage_.is_last) {
    const auto judged = static_cast<std::size_t>(
        samples_ * request_.graph.loss().judged_per_sample(request_.target.shape));
    sizes.push_back(judged * size_of(DType::f64));
    sizes.push_back(judged * size_of(DType::i32));
  }
  return sizes;
}

std::vector<graph::NodeId> BufferSizes::last_readers() const {
  std::vector<graph::NodeId> last;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    last.push_back(id);
    for (const graph::NodeId source : request_.graph.nodes()[static_cast<std::size_t>(id)].inputs) {
      if (stage_.nodes.contains(source)) {
        last[static_cast<std::size_t>(source - stage_.nodes.begin)] = id;
      }
    }
  }
  return last;
}

/// Backward visits nodes last to first: a gradient is needed from the last reader of what it is of
/// down to that itself. Where samples go through in several slices, a task may stop at a node with
/// all of them under way: then gradients lie apart.
BufferLayout BufferSizes::of_backward_scratch() const {
  const auto nodes = request_.graph.nodes();
  const auto last = last_readers();
  const bool in_slices = slices_.size() > 1;
  const auto gradient = [&](const Shape& sample, graph::NodeId from, graph::NodeId to) {
    return in_slices ? Spell{bytes(sample), -stage_.nodes.end, -stage_.nodes.begin, 0}
                     : Spell{bytes(sample), -from, -to, 0};
  };
  std::vector<Spell> spells;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    if (position(stage_.output_gradients, id) < 0 && has_backward(request_.graph, id)) {
      spells.push_back(gradient(nodes[static_cast<std::size_t>(id)].output_shape,
                                last[static_cast<std::size_t>(id - stage_.nodes.begin)], id));
    }
  }
  const auto gradients = request_.graph.input_gradients();
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    const auto index = static_cast<std::size_t>(id);
    for (std::size_t input = 0; input < gradients[index].size(); ++input) {
      if (gradients[index][input] == graph::InputGradient::added) {
        spells.push_back(gradient(nodes[index].input_shapes[input], id, id));
      }
    }
  }
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    for (const std::size_t size : workspace(id, false, slices_.front())) {
      spells.push_back({size, -id, -id, 0});
    }
  }
  return packed(std::move(spells));
}

BufferLayout BufferSizes::of_forward_scratch() const {
  std::vector<Spell> spells;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    for (const std::size_t size : workspace(id, false, slices_.front())) {
      spells.push_back({size, id, id, 0});
    }
  }
  return packed(std::move(spells));
}

}  // namespace zygos::plan
