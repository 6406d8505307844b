// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "plan/memory/run_buffers.hpp"

#include "plan/memory/packing.hpp"

#include "zygos/memory/packing.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace zygos::plan {
namespace {

using memory::ArenaLayout;
using memory::Category;
using schedule::Buffer;
using schedule::BufferKind;
using schedule::ElementRange;
using schedule::Lifetime;
using schedule::Task;
using schedule::TaskKind;
using schedule::Tier;

/// Elements of the flat parameters that a task works on.
ElementRange elements_of(const schedule::Schedule& schedule, const Task& task) {
  if (!schedule::is_pass(task.kind) || task.nodes.begin == task.nodes.end) {
    return task.elements;
  }
  return {schedule.parameters.at(static_cast<std::size_t>(task.nodes.begin)).begin,
          schedule.parameters.at(static_cast<std::size_t>(task.nodes.end) - 1).end};
}

/// Elements that the tasks of a place work on, by the buffer that has them there.
std::map<Buffer, ElementRange> find_elements(const schedule::TasksByPlace& tasks,
                                             schedule::Place place) {
  const schedule::Schedule& schedule = tasks.schedule();
  std::map<Buffer, ElementRange> out;
  const auto note = [&](const Buffer& buffer, ElementRange elements) {
    const schedule::BufferTraits& traits = traits_of(buffer.kind);
    if (buffer.place != place || !traits.of_elements ||
        lifetime_of(schedule, buffer) == Lifetime::step) {
      return;
    }
    if (traits.by_part || !schedule.part_owners.empty()) {
      const ElementRange& part = schedule.parts.at(static_cast<std::size_t>(buffer.part));
      elements = {std::max(elements.begin, part.begin), std::min(elements.end, part.end)};
    }
    const auto [found, fresh] = out.try_emplace(buffer, elements);
    if (!fresh && elements.count() > 0) {
      ElementRange& all = found->second;
      all = all.count() > 0
                ? ElementRange{std::min(all.begin, elements.begin), std::max(all.end, elements.end)}
                : elements;
    }
  };
  for (const schedule::TaskId id : tasks.of(place)) {
    const Task& task = tasks.task(id);
    for (const auto* named : {&task.reads, &task.writes}) {
      for (const Buffer& buffer : *named) {
        note(buffer, elements_of(schedule, task));
      }
    }
  }
  return out;
}

/// The place and those whose gradients its all-reduce reads, in the order of places.
std::vector<schedule::Place> summed_places(const schedule::TasksByPlace& tasks,
                                           schedule::Place place) {
  std::set<schedule::Place> places{place};
  for (const schedule::TaskId id : tasks.of(place)) {
    if (tasks.task(id).kind == TaskKind::all_reduce) {
      for (const Buffer& buffer : tasks.task(id).reads) {
        places.insert(buffer.place);
      }
    }
  }
  return {places.begin(), places.end()};
}

class RunBuffers {
 public:
  RunBuffers(const MemoryRequest& request, const schedule::TasksByPlace& tasks,
             schedule::Place place, PlaceMemory& out)
      : request_(request),
        tasks_(tasks),
        schedule_(tasks.schedule()),
        place_(place),
        host_accessible_(schedule_.host_accessible[static_cast<std::size_t>(place)]),
        elements_(find_elements(tasks, place)),
        out_(out) {}

  void plan() {
    if (schedule_.chunk > 0) {
      plan_tree();
    }
    add_versions();
    add_constants();
    add_block({.kind = BufferKind::gradients, .piece = "gradients", .copies = out_.tree.slots});
    add_states();
    for (const BufferKind kind : {BufferKind::compression_error, BufferKind::sum_error}) {
      if (!side_by_side(kind, 0).empty()) {
        add_block({.kind = kind, .piece = std::string(name_of(kind))});
      }
    }
    add_previous();
    add_block({.kind = BufferKind::reduced_gradients, .piece = "reduced_gradients"});
    add_landing();
    add_coded_messages();
    add_norm();
    add_statistics();
    add_staged(BufferKind::gradient_flag, BufferKind::staged_flag, "bad gradient",
               has(TaskKind::update) || has(TaskKind::speculate) ? size_of(DType::i32) : 0);
    add_staged(BufferKind::loss_totals, BufferKind::staged_totals, "totals",
               has(TaskKind::loss)
                   ? schedule_.micro_batches.size() * nn::loss_totals * size_of(DType::f64)
                   : 0);
    if (request_.records_steps && !host_accessible_) {
      add_staged(BufferKind::step_scalars, BufferKind::staged_scalars, "step scalars",
                 sizeof(std::uint64_t) +
                     schedule_.updates.size() * nn::update_scalars * size_of(DType::f64));
    }
  }

 private:
  /// Buffers of one kind that lie side by side in the order of their elements, in a piece that has
  /// the name `piece`.
  struct Block {
    BufferKind kind = BufferKind::weights;
    std::int32_t named = 0;  ///< slot by which tasks name them
    std::int32_t slot = 0;   ///< of the first copy
    std::string piece;
    std::optional<Category> category{};     ///< if not that of the kind
    std::optional<std::size_t> size{};      ///< bytes of an element, if not the parameters'
    std::int32_t copies = 1;                ///< one behind the other, one slot each
    std::optional<BufferKind> stored_as{};  ///< kind of the planned buffers, if another one
  };

  bool has(TaskKind kind) const {
    return std::ranges::any_of(tasks_.of(place_),
                               [&](schedule::TaskId id) { return tasks_.task(id).kind == kind; });
  }

  std::size_t element_bytes() const { return size_of(wide(request_.dtype)); }

  ArenaLayout& layout(Tier tier) {
    return tier == Tier::lane ? out_.lane : tier == Tier::host ? out_.staging : out_.file;
  }

  /// Host memory in front of a lane that reads host memory itself is the lane's own.
  Tier tier_of(BufferKind kind) const {
    const Tier tier = traits_of(kind).tier;
    return host_accessible_ && tier == Tier::host ? Tier::lane : tier;
  }

  PlannedBuffer& add_buffer(const Buffer& buffer, Category category, std::size_t piece,
                            std::size_t offset, std::size_t bytes) {
    PlannedBuffer& planned = out_.buffers[buffer];
    planned.piece = piece;
    planned.offset = offset;
    planned.bytes = bytes;
    planned.slots = SlotTable({{{Role::contents}, 0, bytes}});
    planned.category = category;
    planned.lifetime = traits_of(buffer.kind).lifetime;
    planned.tier = tier_of(buffer.kind);
    return planned;
  }

  /// A buffer that is a piece by itself.
  void add_piece(const Buffer& buffer, const std::string& name, std::size_t bytes) {
    const Category category = traits_of(buffer.kind).category;
    const std::size_t piece = layout(tier_of(buffer.kind)).add(category, name, bytes);
    if (bytes > 0) {
      add_buffer(buffer, category, piece, 0, bytes);
    }
  }

  std::vector<std::pair<Buffer, ElementRange>> side_by_side(BufferKind kind,
                                                            std::int32_t slot) const {
    std::vector<std::pair<Buffer, ElementRange>> windows;
    std::ranges::copy_if(elements_, std::back_inserter(windows), [&](const auto& window) {
      return window.first.kind == kind && window.first.slot == slot;
    });
    std::ranges::stable_sort(windows, {}, [](const auto& window) { return window.second.begin; });
    return windows;
  }

  void add_block(const Block& block) {
    const BufferKind kind = block.stored_as.value_or(block.kind);
    const std::size_t size = block.size.value_or(element_bytes());
    const Category category = block.category.value_or(traits_of(kind).category);
    const auto windows = side_by_side(block.kind, block.named);
    const auto bytes_of = [&](ElementRange elements) {
      const std::size_t bytes = static_cast<std::size_t>(elements.count()) * size;
      return tier_of(kind) == Tier::file ? memory::padded(bytes) : bytes;  // a dataset for each
    };
    std::size_t bytes = 0;
    for (const auto& [buffer, elements] : windows) {
      bytes += bytes_of(elements);
    }
    const std::size_t piece =
        layout(tier_of(kind))
            .add(category, block.piece, bytes * static_cast<std::size_t>(block.copies));
    std::size_t offset = 0;
    for (std::int32_t slot = block.slot; slot < block.slot + block.copies; ++slot) {
      for (const auto& [buffer, elements] : windows) {
        const std::size_t own = bytes_of(elements);
        add_buffer({kind, place_, 0, slot, buffer.part}, category, piece, offset, own).elements =
            elements;
        offset += own;
      }
    }
  }

  void plan_tree() {
    out_.tree = place_tree(tasks_, place_);
    if (has(TaskKind::all_reduce)) {
      out_.sum = tree_sum(tasks_, summed_places(tasks_, place_), place_, !host_accessible_);
    }
  }

  void add_versions() {
    add_block({.kind = BufferKind::weights, .piece = "weights"});
    for (const schedule::BufferTraits& traits : schedule::all_buffer_kinds()) {
      const bool rests = traits.of_elements && traits.tier != Tier::lane;
      for (std::int32_t slot = 1;
           (traits.kind == BufferKind::weights || rests) && slot <= last_slot(traits.kind);
           ++slot) {
        add_block({.kind = traits.kind,
                   .named = slot,
                   .slot = slot,
                   .piece = std::string(traits.name) + " slot " + std::to_string(slot),
                   .category = Category::stash});
      }
    }
  }

  /// That a task of the place names.
  std::int32_t last_slot(BufferKind kind) const {
    std::int32_t last = 0;
    for (const auto& [buffer, elements] : elements_) {
      last = buffer.kind == kind ? std::max(last, buffer.slot) : last;
    }
    return last;
  }

  /// Beside the weights: a part of the model, too, of which one copy serves all versions.
  void add_constants() {
    for (auto id = out_.stage.nodes.begin; id < out_.stage.nodes.end; ++id) {
      const graph::Node& node = request_.graph.nodes()[static_cast<std::size_t>(id)];
      add_constants(node.name, id, node.layer->constants(node.input_shapes, wide(request_.dtype)));
    }
    if (has(TaskKind::loss)) {
      const graph::Graph& graph = request_.graph;
      add_constants("loss", static_cast<std::int32_t>(graph.nodes().size()),
                    graph.loss().constants(graph.output_shape()));
    }
  }

  void add_constants(const std::string& owner, std::int32_t id,
                     const std::vector<nn::ConstantSpec>& specs) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      add_piece({BufferKind::constants, place_, 0, static_cast<std::int32_t>(i), id},
                owner + "/" + specs[i].name,
                static_cast<std::size_t>(specs[i].shape.size()) * size_of(specs[i].dtype));
    }
  }

  void add_states() {
    const BufferKind kind = schedule::spills_states(schedule_, place_)
                                ? BufferKind::spilled_state
                                : BufferKind::optimizer_state;
    const auto names = request_.optimizer.state_names();
    for (std::size_t state = 0; state < names.size(); ++state) {
      add_block({.kind = kind, .slot = static_cast<std::int32_t>(state), .piece = names[state]});
    }
    if (request_.optimizer.uses_decay()) {
      add_block(
          {.kind = kind, .piece = "decay_mask", .size = 1, .stored_as = BufferKind::decay_mask});
    } else {
      out_.lane.add(Category::optimizer_state, "decay_mask", 0);
    }
  }

  /// What updates that are speculated overwrite.
  void add_previous() {
    if (!has(TaskKind::speculate)) {
      return;
    }
    add_block({.kind = BufferKind::previous_weights, .piece = "previous weights"});
    const auto names = request_.optimizer.state_names();
    for (std::size_t state = 0; state < names.size(); ++state) {
      add_block({.kind = BufferKind::previous_state,
                 .slot = static_cast<std::int32_t>(state),
                 .piece = "previous " + names[state]});
    }
  }

  /// An all-reduce of two gradients of which the other place's is the first: it arrives where the
  /// sum is computed.
  static bool is_in_place(const Task& task) {
    std::vector<schedule::Place> peers;
    for (const Buffer& buffer : task.reads) {
      if (buffer.kind == BufferKind::message) {
        peers.push_back(buffer.place);
      }
    }
    return task.kind == TaskKind::all_reduce && peers.size() == 1 && peers.front() < task.place;
  }

  /// In strict mode the reduced gradient is the first of the sum's temporaries, and the others lie
  /// here. Else it is where the largest part arrives that cannot be read where it is.
  void add_landing() {
    const bool strict = schedule_.chunk > 0;
    std::int64_t largest = 0;
    for (const schedule::TaskId id : tasks_.of(place_)) {
      const Task& task = tasks_.task(id);
      if (traits_of(task.kind).lands && task.codec != schedule::Codec::bf16 &&
          (strict || !is_in_place(task))) {
        largest = std::max(largest, task.elements.count());
      }
    }
    const std::int32_t copies = strict ? out_.sum.temporaries - 1 : host_accessible_ ? 0 : 1;
    const std::size_t bytes = static_cast<std::size_t>(largest) * element_bytes();
    const Category category = traits_of(BufferKind::landing).category;
    const std::size_t piece =
        out_.lane.add(category, "incoming_gradients", bytes * static_cast<std::size_t>(copies));
    for (std::int32_t slot = 0; slot < copies && bytes > 0; ++slot) {
      add_buffer({BufferKind::landing, place_, 0, slot, 0}, category, piece,
                 static_cast<std::size_t>(slot) * bytes, bytes);
    }
  }

  /// What a lane that does not read host memory sends coded, or decodes: one message of each queue
  /// at a time.
  void add_coded_messages() {
    for (std::size_t queue = 0; queue < schedule::queue_count && !host_accessible_; ++queue) {
      std::int64_t largest = 0;
      for (const schedule::TaskId id : tasks_.of(place_)) {
        const Task& task = tasks_.task(id);
        if (task.codec != schedule::Codec::exact && static_cast<std::size_t>(task.queue) == queue) {
          const std::int64_t bytes =
              schedule::reads_several(task.kind)
                  ? schedule::coded_bytes(task.codec, task.elements.count(),
                                          static_cast<std::int64_t>(element_bytes()))
                  : task.bytes;
          largest = std::max(largest, bytes);
        }
      }
      if (largest > 0) {
        add_piece({BufferKind::coded_message, place_, 0, static_cast<std::int32_t>(queue), 0},
                  "coded_messages " + std::string(name_of(static_cast<schedule::Queue>(queue))),
                  static_cast<std::size_t>(largest));
      }
    }
  }

  /// The squares of parts are windows of the sums that the norm is computed from.
  void add_norm() {
    const NormPlan& plan = out_.norm = norm_plan(request_.graph, tasks_, place_);
    const Buffer whole{BufferKind::norm, place_, 0, 0, 0};
    add_piece(whole, "norm", plan.bytes());
    if (plan.sums == 0) {
      return;
    }
    std::vector<Slot> slots;
    std::size_t offset = 0;
    const auto add = [&](Role role, std::int64_t values) {
      const auto bytes = static_cast<std::size_t>(values) * 8;
      slots.push_back({{role}, offset, bytes});
      offset += bytes;
    };
    add(Role::norm_pieces, 2 * std::ssize(plan.pieces));
    add(Role::norm_first, std::ssize(plan.first));
    add(Role::norm_workspace, plan.workspace());
    add(Role::norm_sums, plan.sums);
    add(Role::norm_factor, 1);
    out_.buffers.at(whole).slots = SlotTable(std::move(slots));
    add_squares(out_.buffers.at(whole));
  }

  void add_squares(const PlannedBuffer& norm) {
    const auto sums = schedule::square_sums(schedule_);
    const std::size_t begin = norm.slots.at({Role::norm_sums}).offset;
    for (std::size_t part = 0; part < schedule_.parts.size(); ++part) {
      const ElementRange& elements = schedule_.parts[part];
      schedule::SumRange own = out_.norm.own;
      const auto is_outside = [&](std::int32_t sum) {
        const ElementRange& of_sum = sums[static_cast<std::size_t>(sum)];
        return of_sum.end <= elements.begin || elements.end <= of_sum.begin;
      };
      while (own.begin < own.end && is_outside(own.begin)) {
        ++own.begin;
      }
      while (own.begin < own.end && is_outside(own.end - 1)) {
        --own.end;
      }
      if (own.count() > 0) {
        add_buffer({BufferKind::squares, place_, 0, 0, static_cast<std::int32_t>(part)},
                   norm.category, norm.piece, begin + 8 * static_cast<std::size_t>(own.begin),
                   8 * static_cast<std::size_t>(own.count()));
      }
    }
  }

  /// Windows of the tables of a divided batch: rows of a micro-batch, rows of an update.
  void add_statistics() {
    const StatisticsPlan& plan = out_.statistics = statistics_plan(tasks_, place_);
    const Category category = traits_of(BufferKind::statistics).category;
    const std::size_t piece = out_.lane.add(category, "statistics", plan.bytes());
    const auto add = [&](const Buffer& buffer) {
      const bool whole = buffer.kind == BufferKind::batch_statistics;
      const auto* table = plan.find(buffer.part, buffer.slot == 1);
      if (buffer.place != place_ || table == nullptr ||
          (!whole && buffer.kind != BufferKind::statistics)) {
        return;
      }
      const auto index = static_cast<std::size_t>(buffer.micro_batch);
      const schedule::RowRange rows = rows_within(
          plan.rows, whole ? schedule_.updates.at(index) : schedule_.micro_batches.at(index));
      const auto row = static_cast<std::size_t>(table->length) * sizeof(double);
      add_buffer(buffer, category, piece,
                 static_cast<std::size_t>(table->begin) * sizeof(double) +
                     static_cast<std::size_t>(rows.begin) * row,
                 static_cast<std::size_t>(rows.count()) * row);
    };
    for (const schedule::TaskId id : tasks_.of(place_)) {
      if (plan.bytes() > 0) {
        std::ranges::for_each(tasks_.task(id).reads, add);
        std::ranges::for_each(tasks_.task(id).writes, add);
      }
    }
  }

  /// Something small that a step reports, and its copy in host memory where the host cannot read
  /// the lane's.
  void add_staged(BufferKind kind, BufferKind copy, const std::string& name, std::size_t bytes) {
    add_piece({kind, place_, 0, 0, 0}, name, bytes);
    if (host_accessible_) {
      out_.staging.add(traits_of(copy).category, name, 0);
    } else {
      add_piece({copy, place_, 0, 0, 0}, name, bytes);
    }
  }

  const MemoryRequest& request_;
  const schedule::TasksByPlace& tasks_;
  const schedule::Schedule& schedule_;
  schedule::Place place_;
  bool host_accessible_;
  std::map<Buffer, ElementRange> elements_;
  PlaceMemory& out_;
};

}  // namespace

void plan_run_buffers(const MemoryRequest& request, const schedule::TasksByPlace& tasks,
                      schedule::Place place, PlaceMemory& out) {
  RunBuffers(request, tasks, place, out).plan();
}

}  // namespace zygos::plan
