// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/memory_plan.hpp"

#include "plan/memory/buffer_sizes.hpp"
#include "plan/memory/packing.hpp"
#include "plan/memory/run_buffers.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"
#include "zygos/memory/packing.hpp"
#include "zygos/schedule/happens_before.hpp"

#include <algorithm>

namespace zygos::plan {
namespace {

using memory::ArenaLayout;
using memory::Category;
using schedule::Buffer;
using schedule::BufferKind;
using schedule::TaskKind;

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
bool has_backward_tasks(const schedule::TasksByPlace& tasks, schedule::Place place) {
  return std::ranges::any_of(tasks.of(place), [&](schedule::TaskId id) {
    return tasks.task(id).kind == TaskKind::backward;
  });
}

/// The buffers of one place with their sizes and uses, not yet put anywhere.
class Collector {
 public:
  Collector(const MemoryRequest& request, const schedule::TasksByPlace& tasks,
            schedule::Place place, const StageTensors& stage)
      : request_(request),
        tasks_(tasks),
        schedule_(tasks.schedule()),
        place_(place),
        holds_prediction_(stage.is_last) {
    const bool trains = has_backward_tasks(tasks, place);
    for (const schedule::SampleRange& samples : schedule_.micro_batches) {
      sizes_.emplace_back(request, stage, schedule_, samples, trains);
    }
  }

  std::map<Buffer, PlannedBuffer> collect() {
    for (const auto& [task, buffer] : tasks_.uses_of(place_)) {
      use(*buffer, task);
    }
    return std::move(buffers_);
  }

 private:
  void use(const Buffer& buffer, schedule::TaskId id) {
    if (schedule::lifetime_of(schedule_, buffer) != schedule::Lifetime::step) {
      return;
    }
    Buffer copy = buffer;
    for (; copy.slot < buffer.slot + copies_of(buffer.kind); ++copy.slot) {
      const auto [found, fresh] = buffers_.try_emplace(copy);
      if (fresh) {
        measure(copy, found->second, schedule_.tasks[static_cast<std::size_t>(id)]);
        found->second.first = id;
      }
      note_access(found->second, schedule_, id);
    }
  }

  /// Tasks name all states of the optimizer as one.
  std::int32_t copies_of(BufferKind kind) const {
    return kind == BufferKind::optimizer_state
               ? static_cast<std::int32_t>(request_.optimizer.state_names().size())
               : 1;
  }

  void measure(const Buffer& buffer, PlannedBuffer& planned, const schedule::Task& task) const {
    planned.category = schedule::traits_of(buffer.kind).category;
    planned.tier = schedule::traits_of(buffer.kind).tier;
    planned.pinned = (holds_prediction_ && buffer.kind == BufferKind::outputs) ||
                     (buffer.kind == BufferKind::inputs && loads_ahead(schedule_, place_));
    if (buffer.kind == BufferKind::message) {
      const bool host = schedule_.host_accessible[static_cast<std::size_t>(place_)];
      const auto bytes = static_cast<std::size_t>(max_bytes(task));
      planned.slots = SlotTable({{{Role::contents}, 0, bytes}});
      planned.bytes = is_read_in_place(task, host) ? 0 : memory::padded(bytes);
      planned.tier = task.local ? schedule::Tier::lane : planned.tier;
      return;
    }
    if (schedule::traits_of(buffer.kind).of_elements) {
      planned.elements = schedule_.parts[static_cast<std::size_t>(buffer.part)];
      const std::size_t bytes =
          static_cast<std::size_t>(planned.elements.count()) * size_of(wide(request_.dtype));
      planned.slots = SlotTable({{{Role::contents}, 0, bytes}});
      planned.bytes = memory::padded(bytes);
      return;
    }
    BufferLayout layout = sizes_[static_cast<std::size_t>(buffer.micro_batch)].of(buffer);
    planned.slots = std::move(layout.slots);
    planned.bytes = layout.bytes;
  }

  const MemoryRequest& request_;
  const schedule::TasksByPlace& tasks_;
  const schedule::Schedule& schedule_;
  schedule::Place place_;
  bool holds_prediction_;
  std::vector<BufferSizes> sizes_;
  std::map<Buffer, PlannedBuffer> buffers_;
};

class PlacePlanner {
 public:
  PlacePlanner(const MemoryRequest& request, const schedule::TasksByPlace& tasks,
               schedule::Place place)
      : request_(request), tasks_(tasks), place_(place) {}

  PlaceMemory plan(const schedule::HappensBefore& before) {
    out_.active = true;
    const schedule::Schedule& schedule = tasks_.schedule();
    const schedule::Stage stage = schedule.stage_of[static_cast<std::size_t>(place_)];
    if (stage >= 0) {
      out_.stage = stage_tensors(request_.graph, schedule.stages, stage);
    }
    plan_run_buffers(request_, tasks_, place_, out_);
    out_.buffers.merge(Collector(request_, tasks_, place_, out_.stage).collect());
    for (const Category category : memory::all_categories) {
      add_region(category, before);
    }
    return std::move(out_);
  }

 private:
  /// All buffers of a category that live within a step, packed into one piece.
  void add_region(Category category, const schedule::HappensBefore& before) {
    std::vector<PlannedBuffer*> lane;
    std::vector<PlannedBuffer*> staged;
    std::vector<PlannedBuffer*> filed;
    for (auto& [buffer, planned] : out_.buffers) {
      if (planned.category == category && planned.lifetime == schedule::Lifetime::step &&
          planned.bytes > 0) {
        (planned.tier == schedule::Tier::lane   ? lane
         : planned.tier == schedule::Tier::host ? staged
                                                : filed)
            .push_back(&planned);
      }
    }
    const auto name = std::string(name_of(category)) + " of the step";
    place_into(out_.lane, category, name, lane, pack(lane, before));
    // Activations in host memory are this place's alone; messages are not.
    const bool own = category == Category::activations;
    place_into(out_.staging, category, name, staged,
               own ? pack(staged, before) : pack_apart(staged));
    place_into(out_.file, category, name, filed, pack_apart(filed));
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
  const schedule::TasksByPlace& tasks_;
  schedule::Place place_;
  PlaceMemory out_;
};

}  // namespace

std::vector<LaneMemory> lane_memory(const schedule::Schedule& schedule,
                                    const std::vector<PlaceMemory>& places) {
  std::vector<LaneMemory> lanes(schedule.lane_count());
  const auto add_to = [](memory::ArenaLayout& all, const memory::ArenaLayout& more) {
    for (const memory::Piece& piece : more.pieces()) {
      all.add(piece.category, piece.name, piece.bytes);
    }
  };
  for (std::size_t place = 0; place < places.size(); ++place) {
    LaneMemory& lane = lanes[schedule.lane_of(static_cast<schedule::Place>(place))];
    lane.active = lane.active || places[place].active;
    add_to(lane.lane, places[place].lane);
    add_to(lane.staging, places[place].staging);
    add_to(lane.file, places[place].file);
  }
  return lanes;
}

std::size_t host_bytes(const LaneMemory& memory, lane::Kind kind) {
  return memory.staging.total() + (kind == lane::Kind::device ? 0 : memory.lane.total());
}

std::size_t host_bytes(const std::vector<LaneMemory>& lanes) {
  std::size_t bytes = 0;
  for (const LaneMemory& lane : lanes) {
    bytes += lane.staging.total();
  }
  return bytes;
}

void require_host_budget(const std::vector<LaneMemory>& lanes, std::size_t budget) {
  const std::size_t bytes = host_bytes(lanes);
  if (budget > 0 && bytes > budget) {
    throw MemoryError("lanes need " + memory::text_of_bytes(bytes) +
                      " of host memory beside their own, and memory_plan.host_memory is " +
                      memory::text_of_bytes(budget) +
                      "; raise it, spill more (memory_plan.activations: spill or auto), or take "
                      "more micro-batches");
  }
}

std::vector<PlaceMemory> plan_memory(const MemoryRequest& request,
                                     const schedule::Schedule& schedule) {
  return plan_memory(request, schedule::TasksByPlace(schedule));
}

std::vector<PlaceMemory> plan_memory(const MemoryRequest& whole,
                                     const schedule::TasksByPlace& tasks) {
  const schedule::Schedule& schedule = tasks.schedule();
  const graph::Graph graph = graph::sharded(whole.graph, schedule.slices);
  const MemoryRequest request{graph, whole.optimizer, whole.dtype, whole.target,
                              whole.records_steps};
  std::vector<PlaceMemory> out(schedule.places.size());
  const schedule::HappensBefore before(schedule);
  for (const schedule::Place place : schedule.active_places()) {
    out[static_cast<std::size_t>(place)] = PlacePlanner(request, tasks, place).plan(before);
  }
  return out;
}

}  // namespace zygos::plan
