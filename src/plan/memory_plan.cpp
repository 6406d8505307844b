// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/memory_plan.hpp"

#include "plan/buffer_sizes.hpp"
#include "plan/packing.hpp"

#include "zygos/schedule/happens_before.hpp"

#include <algorithm>
#include <set>

namespace zygos::plan {
namespace {

using memory::ArenaLayout;
using memory::Category;
using schedule::Buffer;
using schedule::BufferKind;
using schedule::TaskKind;

Category category_of(BufferKind kind) {
  switch (kind) {
    case BufferKind::inputs:
      return Category::inputs;
    case BufferKind::scratch:
      return Category::workspace;
    case BufferKind::staging:
    case BufferKind::message:
      return Category::communication;
    default:
      return Category::activations;
  }
}

/// Buffers of samples and messages live within a step, everything else as long as the engine.
bool lives_within_step(BufferKind kind) {
  switch (kind) {
    case BufferKind::batch:
    case BufferKind::gradients:
    case BufferKind::reduced_gradients:
    case BufferKind::statistics:
    case BufferKind::batch_statistics:
    case BufferKind::squares:
    case BufferKind::norm:
    case BufferKind::weights:
    case BufferKind::optimizer_state:
      return false;
    default:
      return true;
  }
}

/// Notes an access: keeps, per queue, the latest.
void note_access(PlannedBuffer& buffer, const schedule::Schedule& schedule, schedule::TaskId id) {
  const auto line = [&](schedule::TaskId task) {
    const schedule::Task& one = schedule.tasks[static_cast<std::size_t>(task)];
    return std::pair(one.place, one.queue);
  };
  std::erase_if(buffer.last, [&](schedule::TaskId other) { return line(other) == line(id); });
  buffer.last.push_back(id);
}

/// False of a schedule for evaluation.
bool has_backward_tasks(const schedule::Schedule& schedule, schedule::Place place) {
  return std::ranges::any_of(schedule.tasks, [&](const schedule::Task& task) {
    return task.place == place && task.kind == TaskKind::backward;
  });
}

/// The buffers of one place with their sizes and uses, not yet put anywhere.
class Collector {
 public:
  Collector(const MemoryRequest& request, const schedule::Schedule& schedule, schedule::Place place,
            const StageTensors& stage)
      : request_(request), schedule_(schedule), place_(place), holds_prediction_(stage.is_last) {
    const bool trains = has_backward_tasks(schedule, place);
    for (const schedule::SampleRange& samples : schedule.micro_batches) {
      sizes_.emplace_back(request, stage, samples, schedule.chunk, trains);
    }
  }

  std::map<Buffer, PlannedBuffer> collect() {
    for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
      const schedule::Task& task = schedule_.tasks[id];
      for (const Buffer& buffer : task.writes) {
        use(buffer, static_cast<schedule::TaskId>(id));
      }
      for (const Buffer& buffer : task.reads) {
        use(buffer, static_cast<schedule::TaskId>(id));
      }
    }
    return std::move(buffers_);
  }

 private:
  void use(const Buffer& buffer, schedule::TaskId id) {
    if (buffer.place != place_ || !lives_within_step(buffer.kind)) {
      return;
    }
    const auto [found, fresh] = buffers_.try_emplace(buffer);
    if (fresh) {
      measure(buffer, found->second, schedule_.tasks[static_cast<std::size_t>(id)]);
      found->second.first = id;
    }
    note_access(found->second, schedule_, id);
  }

  void measure(const Buffer& buffer, PlannedBuffer& planned, const schedule::Task& task) const {
    planned.category = category_of(buffer.kind);
    planned.pinned = holds_prediction_ && buffer.kind == BufferKind::outputs;
    if (buffer.kind == BufferKind::message) {
      const bool host = request_.host_accessible[static_cast<std::size_t>(place_)];
      planned.tensors = {0};
      planned.bytes =
          is_alias(task.payload, host) ? 0 : padded(static_cast<std::size_t>(task.bytes));
      return;
    }
    BufferLayout layout = sizes_[static_cast<std::size_t>(buffer.micro_batch)].of(buffer);
    planned.tensors = std::move(layout.tensors);
    planned.bytes = layout.bytes;
  }

  const MemoryRequest& request_;
  const schedule::Schedule& schedule_;
  schedule::Place place_;
  bool holds_prediction_;
  std::vector<BufferSizes> sizes_;
  std::map<Buffer, PlannedBuffer> buffers_;
};

std::int32_t stash_slots(const schedule::Schedule& schedule, schedule::Place place) {
  std::int32_t slots = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == TaskKind::stash) {
      slots = std::max(slots, task.slot);
    }
  }
  return slots;
}

/// Elements of the largest piece of gradient or weights that comes in and can't be read where it
/// is.
std::int64_t landing_elements(const schedule::Schedule& schedule, schedule::Place place) {
  std::int64_t most = 0;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place &&
        (task.kind == TaskKind::reduce || task.kind == TaskKind::all_reduce)) {
      most = std::max(most, task.elements.count());
    }
  }
  return most;
}

/// The place and those whose gradients its all-reduce reads, in the order of places.
std::vector<schedule::Place> summed_places(const schedule::Schedule& schedule,
                                           schedule::Place place) {
  std::set<schedule::Place> places{place};
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == TaskKind::all_reduce) {
      for (const schedule::Buffer& buffer : task.reads) {
        places.insert(buffer.place);
      }
    }
  }
  return {places.begin(), places.end()};
}

class PlacePlanner {
 public:
  PlacePlanner(const MemoryRequest& request, const schedule::Schedule& schedule,
               schedule::Place place)
      : request_(request),
        schedule_(schedule),
        place_(place),
        host_accessible_(request.host_accessible[static_cast<std::size_t>(place)]) {}

  PlaceMemory plan(const schedule::HappensBefore& before) {
    out_.active = true;
    out_.stage = stage_tensors(request_.graph, schedule_.stages,
                               schedule_.stage_of[static_cast<std::size_t>(place_)]);
    if (schedule_.chunk > 0) {
      plan_tree();
    }
    out_.elements =
        outline_of(request_.graph, request_.dtype, request_.target).parameters_of(out_.stage.nodes);
    add_lasting();
    out_.buffers = Collector(request_, schedule_, place_, out_.stage).collect();
    for (const Category category : memory::all_categories) {
      add_region(category, before);
    }
    return std::move(out_);
  }

 private:
  std::size_t bytes_of(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * size_of(wide(request_.dtype));
  }

  bool has(TaskKind kind) const {
    return std::ranges::any_of(schedule_.tasks, [&](const schedule::Task& task) {
      return task.place == place_ && task.kind == kind;
    });
  }

  void plan_tree() {
    out_.tree = place_tree(schedule_, place_);
    if (has(TaskKind::all_reduce)) {
      out_.sum = tree_sum(schedule_, summed_places(schedule_, place_), place_, !host_accessible_);
    }
  }

  /// Beside the weights: a part of the model, too, of which one copy serves all versions.
  void add_constants() {
    for (auto id = out_.stage.nodes.begin; id < out_.stage.nodes.end; ++id) {
      const graph::Node& node = request_.graph.nodes()[static_cast<std::size_t>(id)];
      for (const auto& spec : node.layer->constants(node.input_shapes, wide(request_.dtype))) {
        const auto bytes = static_cast<std::size_t>(spec.shape.size()) * size_of(spec.dtype);
        out_.pieces.constants.push_back(
            out_.lane.add(Category::weights, node.name + "/" + spec.name, bytes));
      }
    }
  }

  void add_lasting() {
    LastingPieces& pieces = out_.pieces;
    ArenaLayout& lane = out_.lane;
    const std::size_t flat = bytes_of(out_.elements.count());
    pieces.weights.push_back(lane.add(Category::weights, "weights", flat));
    const std::int32_t slots = stash_slots(schedule_, place_);
    for (std::int32_t slot = 1; slot <= slots; ++slot) {
      pieces.weights.push_back(
          lane.add(Category::stash, "weights slot " + std::to_string(slot), flat));
    }
    add_constants();
    const auto gradients = has(TaskKind::backward) ? out_.tree.slots : 0;
    pieces.gradients =
        lane.add(Category::gradients, "gradients", flat * static_cast<std::size_t>(gradients));
    out_.updated = updated_elements(schedule_, place_);
    std::int64_t updated = 0;
    for (const schedule::ElementRange& elements : out_.updated) {
      updated += elements.count();
    }
    for (const std::string& state : request_.optimizer.state_names()) {
      pieces.states.push_back(lane.add(Category::optimizer_state, state, bytes_of(updated)));
    }
    const auto mask = request_.optimizer.uses_decay() ? updated : 0;
    pieces.decay_mask =
        lane.add(Category::optimizer_state, "decay_mask", static_cast<std::size_t>(mask));
    pieces.reduced = lane.add(Category::communication, "reduced_gradients",
                              has(TaskKind::all_reduce) ? flat : 0);
    // In strict mode the reduced gradient is the first of the sum's temporaries.
    const std::int64_t landing = schedule_.chunk > 0
                                     ? (out_.sum.temporaries - 1) * out_.elements.count()
                                     : landing_elements(schedule_, place_);
    const bool lands = schedule_.chunk > 0 || !host_accessible_;
    pieces.incoming =
        lane.add(Category::communication, "incoming_gradients", lands ? bytes_of(landing) : 0);
    add_small();
  }

  /// What a step says of itself.
  void add_small() {
    LastingPieces& pieces = out_.pieces;
    ArenaLayout& lane = out_.lane;
    out_.norm = norm_plan(request_.graph, schedule_, place_);
    pieces.norm = lane.add(Category::workspace, "norm", out_.norm.bytes());
    out_.statistics = statistics_plan(schedule_, place_);
    pieces.statistics = lane.add(Category::workspace, "statistics", out_.statistics.bytes());
    const std::size_t bad = has(TaskKind::update) ? size_of(DType::i32) : 0;
    pieces.bad = lane.add(Category::workspace, "bad gradient", bad);
    out_.staged_bad =
        out_.staging.add(Category::communication, "bad gradient", host_accessible_ ? 0 : bad);
    const std::size_t totals =
        out_.stage.is_last ? schedule_.micro_batches.size() * nn::loss_totals * size_of(DType::f64)
                           : 0;
    pieces.totals = lane.add(Category::workspace, "totals", totals);
    out_.staged_totals =
        out_.staging.add(Category::communication, "totals", host_accessible_ ? 0 : totals);
  }

  /// All buffers of a category that live within a step, packed into one piece.
  void add_region(Category category, const schedule::HappensBefore& before) {
    std::vector<PlannedBuffer*> lane;
    std::vector<PlannedBuffer*> staged;
    for (auto& [buffer, planned] : out_.buffers) {
      if (planned.category == category && planned.bytes > 0) {
        (is_staged(buffer.kind) ? staged : lane).push_back(&planned);
      }
    }
    const auto name = std::string(name_of(category)) + " of the step";
    place_into(out_.lane, category, name, lane, pack(lane, before));
    place_into(out_.staging, category, name, staged, pack_apart(staged));
  }

  static void place_into(ArenaLayout& layout, Category category, const std::string& name,
                         const std::vector<PlannedBuffer*>& buffers, std::size_t bytes) {
    if (buffers.empty()) {
      return;
    }
    const std::size_t piece = layout.add(category, name, bytes);
    for (PlannedBuffer* buffer : buffers) {
      buffer->piece = piece;
    }
  }

  const MemoryRequest& request_;
  const schedule::Schedule& schedule_;
  schedule::Place place_;
  bool host_accessible_;
  PlaceMemory out_;
};

}  // namespace

bool is_alias(schedule::Payload payload, bool sender_host_accessible) {
  return sender_host_accessible &&
         (payload == schedule::Payload::gradients || payload == schedule::Payload::weights);
}

std::vector<schedule::ElementRange> updated_elements(const schedule::Schedule& schedule,
                                                     schedule::Place place) {
  std::vector<schedule::ElementRange> updated;
  for (const schedule::Task& task : schedule.tasks) {
    if (task.place == place && task.kind == TaskKind::update &&
        std::ranges::find(updated, task.elements) == updated.end()) {
      updated.push_back(task.elements);
    }
  }
  return updated;
}

std::vector<PlaceMemory> plan_memory(const MemoryRequest& request,
                                     const schedule::Schedule& schedule) {
  std::vector<PlaceMemory> out(schedule.places.size());
  const schedule::HappensBefore before(schedule);
  for (const schedule::Place place : schedule.active_places()) {
    out[static_cast<std::size_t>(place)] = PlacePlanner(request, schedule, place).plan(before);
  }
  return out;
}

}  // namespace zygos::plan
