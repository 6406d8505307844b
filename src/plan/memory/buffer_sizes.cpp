// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/memory/buffer_sizes.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/packing.hpp"

#include <algorithm>
#include <array>

namespace zygos::plan {

using schedule::BufferKind;

/// Slots in the order in which they are laid out, each with the time in which it is needed.
class TimedSlots {
 public:
  void add(SlotName name, std::size_t bytes, std::int64_t first = 0, std::int64_t last = 0) {
    slots_.push_back({name, 0, bytes});
    intervals_.push_back({memory::padded(bytes), first, last, 0});
  }

  /// One after the other, no memory shared.
  BufferLayout apart() && {
    std::size_t total = 0;
    for (memory::LiveInterval& interval : intervals_) {
      interval.offset = total;
      total = memory::end_of(interval);
    }
    return laid_out(total);
  }

  /// Slots whose live intervals do not overlap may share memory.
  BufferLayout packed() && { return laid_out(memory::pack(intervals_)); }

 private:
  BufferLayout laid_out(std::size_t total) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].offset = intervals_[i].offset;
    }
    return {SlotTable(std::move(slots_)), total};
  }

  std::vector<Slot> slots_;
  std::vector<memory::LiveInterval> intervals_;
};

BufferSizes::BufferSizes(const MemoryRequest& request, const StageTensors& stage,
                         const schedule::Schedule& schedule, schedule::SampleRange samples,
                         bool trains)
    : request_(request),
      stage_(stage),
      schedule_(schedule),
      samples_(samples.count()),
      slices_(schedule::slices_of(samples, schedule.chunk)),
      trains_(trains) {}

std::size_t BufferSizes::bytes(const Shape& sample) const {
  return static_cast<std::size_t>(sample.with_leading(samples_).size()) * size_of(request_.dtype);
}

BufferLayout BufferSizes::of(const schedule::Buffer& buffer) const {
  using Layout = BufferLayout (BufferSizes::*)() const;
  static constexpr std::array<std::pair<BufferKind, Layout>, 6> layouts{
      {{BufferKind::inputs, &BufferSizes::of_batch},
       {BufferKind::staging, &BufferSizes::of_batch},
       {BufferKind::boundary, &BufferSizes::of_boundary},
       {BufferKind::outputs, &BufferSizes::of_outputs},
       {BufferKind::input_gradients, &BufferSizes::of_input_gradients},
       {BufferKind::output_gradients, &BufferSizes::of_losses}}};
  if (buffer.kind == BufferKind::scratch) {
    return buffer.slot == 0 ? of_backward_scratch() : of_forward_scratch();
  }
  if (schedule::traits_of(buffer.kind).by_segment) {
    return of_activations(buffer.part);
  }
  const auto found =
      std::ranges::find(layouts, buffer.kind, [](const auto& one) { return one.first; });
  if (found == layouts.end()) {
    throw InternalError("buffers of kind '" + std::string(name_of(buffer.kind)) +
                        "' do not consist of samples");
  }
  return (this->*found->second)();
}

BufferLayout BufferSizes::of_batch() const {
  const auto of_samples = [&](const Shape& sample, DType dtype) {
    return static_cast<std::size_t>(sample.with_leading(samples_).size()) * size_of(dtype);
  };
  const TargetSpec& target = request_.target;
  const std::size_t targets = of_samples(target.shape, target.dtype);
  const graph::Graph& graph = request_.graph;
  const std::size_t inputs = of_samples(graph.input_shape(), graph.input_dtype(request_.dtype));
  TimedSlots slots;
  slots.add({Role::model_input}, stage_.reads_input ? inputs : 0);
  slots.add({Role::target}, stage_.is_last ? targets : 0);
  slots.add({Role::sample_ids}, of_samples({}, DType::u32));
  return std::move(slots).apart();
}

void BufferSizes::add_nodes(Role role, const std::vector<graph::NodeId>& nodes,
                            TimedSlots& slots) const {
  for (const graph::NodeId node : nodes) {
    slots.add({role, node},
              bytes(request_.graph.nodes()[static_cast<std::size_t>(node)].output_shape));
  }
}

BufferLayout BufferSizes::of_nodes(Role role, const std::vector<graph::NodeId>& nodes) const {
  TimedSlots slots;
  add_nodes(role, nodes, slots);
  return std::move(slots).apart();
}

void BufferSizes::add_workspace(graph::NodeId id, bool kept, std::size_t slice, std::int64_t moment,
                                TimedSlots& slots) const {
  const graph::Node& node = request_.graph.nodes()[static_cast<std::size_t>(id)];
  const auto specs =
      node.layer->workspace(slices_[slice].count(), node.input_shapes, request_.dtype);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kept == kept) {
      slots.add({kept ? Role::kept_workspace : Role::scratch_workspace, id,
                 static_cast<std::int32_t>(i), static_cast<std::int32_t>(slice)},
                static_cast<std::size_t>(specs[i].shape.size()) * size_of(specs[i].dtype), moment,
                moment);
    }
  }
}

BufferLayout BufferSizes::of_activations(std::int32_t segment) const {
  const auto nodes = request_.graph.nodes();
  const schedule::NodeRange of_segment =
      schedule_.segments.empty() ? stage_.nodes
                                 : schedule_.segments[static_cast<std::size_t>(segment)].nodes;
  const auto last = last_readers();
  TimedSlots slots;
  for (auto id = of_segment.begin; id < of_segment.end; ++id) {
    if (position(stage_.outputs, id) < 0) {
      slots.add({Role::output, id}, bytes(nodes[static_cast<std::size_t>(id)].output_shape), id,
                last[static_cast<std::size_t>(id - stage_.nodes.begin)]);
    }
  }
  for (std::size_t slice = 0; slice < slices_.size(); ++slice) {
    for (auto id = of_segment.begin; id < of_segment.end; ++id) {
      add_workspace(id, true, slice, id, slots);
    }
  }
  // Where a task may stop at a node with several slices under way, each needs all its activations.
  const bool all_stay = trains_ || slices_.size() > 1;
  return all_stay ? std::move(slots).apart() : std::move(slots).packed();
}

BufferLayout BufferSizes::of_losses() const {
  TimedSlots slots;
  add_nodes(Role::output_gradient, stage_.output_gradients, slots);
  if (stage_.is_last) {
    const auto labels = static_cast<std::size_t>(
        samples_ * request_.graph.loss().valid_per_sample(request_.target.shape));
    slots.add({Role::loss_values}, labels * size_of(DType::f64));
    slots.add({Role::loss_hits}, labels * size_of(DType::i32));
  }
  return std::move(slots).apart();
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

/// Backward visits nodes last to first: the gradient of an output is live from the output's last
/// reader down to its own node. Where samples go through in several slices, a task may stop at a
/// node with all of them under way: then gradients share no memory.
void BufferSizes::add_gradients(TimedSlots& slots) const {
  const auto nodes = request_.graph.nodes();
  const auto last = last_readers();
  const bool in_slices = slices_.size() > 1;
  const auto add = [&](SlotName name, const Shape& sample, graph::NodeId from, graph::NodeId to) {
    slots.add(name, bytes(sample), in_slices ? -stage_.nodes.end : -from,
              in_slices ? -stage_.nodes.begin : -to);
  };
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    if (position(stage_.output_gradients, id) < 0 && has_backward(request_.graph, id)) {
      add({Role::output_gradient, id}, nodes[static_cast<std::size_t>(id)].output_shape,
          last[static_cast<std::size_t>(id - stage_.nodes.begin)], id);
    }
  }
  const auto gradients = request_.graph.input_gradients();
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    const auto index = static_cast<std::size_t>(id);
    for (std::size_t input = 0; input < gradients[index].size(); ++input) {
      if (gradients[index][input] == graph::InputGradient::added) {
        add({Role::added_gradient, id, static_cast<std::int32_t>(input)},
            nodes[index].input_shapes[input], id, id);
      }
    }
  }
}

BufferLayout BufferSizes::of_backward_scratch() const {
  TimedSlots slots;
  add_gradients(slots);
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    add_workspace(id, false, 0, -id, slots);
  }
  return std::move(slots).packed();
}

BufferLayout BufferSizes::of_forward_scratch() const {
  TimedSlots slots;
  for (auto id = stage_.nodes.begin; id < stage_.nodes.end; ++id) {
    add_workspace(id, false, 0, id, slots);
  }
  return std::move(slots).packed();
}

}  // namespace zygos::plan
