// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/operands.hpp"

#include "zygos/schedule/batch_statistics.hpp"

#include <algorithm>
#include <utility>

namespace zygos::schedule {
namespace {

/// Which conditions of operands a task fulfils.
class FactFinder {
 public:
  FactFinder(const Schedule& schedule, const StageFacts& stage, const Task& task)
      : schedule_(schedule), stage_(stage), task_(task) {}

  Facts find() {
    const bool host_accessible = schedule_.host_accessible[static_cast<std::size_t>(task_.place)];
    note(Fact::host_accessible, host_accessible);
    note(Fact::staged, !host_accessible);
    const bool at_boundary = !is_pass(task_.kind) || stage_.reads_boundary(task_.nodes);
    note(Fact::has_boundary, at_boundary && !stage_.activations_from.empty());
    note(Fact::made, task_.of_gradients || task_.nodes.begin > stage_.nodes.begin);
    note(Fact::segment_made,
         task_.of_gradients ||
             task_.nodes.begin > segment_nodes(schedule_, task_.nodes.begin, stage_.nodes).begin);
    note(Fact::of_gradients, task_.of_gradients);
    note(Fact::later_nodes, task_.nodes.end < stage_.nodes.end);
    note(Fact::own_gradients,
         stage_.nodes == schedule_.stages.back() || receives(&GradientSource::of_own_outputs));
    note(Fact::passing_gradients, at_boundary && receives(&GradientSource::of_others_outputs));
    note(Fact::accumulates, task_.accumulates);
    note(Fact::sends_gradients, at_boundary && stage_.sends_gradients);
    note(Fact::reduced, task_.reduced);
    note(Fact::unreduced, !task_.reduced);
    note(Fact::clips, task_.clips);
    note_peer();
    return found_;
  }

 private:
  void note(Fact fact, bool holds) {
    found_ = static_cast<Facts>(found_ | (holds ? static_cast<unsigned>(fact) : 0U));
  }

  bool receives(bool GradientSource::*what) const {
    return std::ranges::any_of(stage_.gradients_from, what);
  }

  /// A peer whose stage sends no gradients here is check_messages()' to find.
  void note_peer() {
    if (task_.payload != Payload::activation_gradients || task_.peer < 0) {
      return;
    }
    const Stage from = schedule_.stage_of[static_cast<std::size_t>(task_.peer)];
    const auto source = std::ranges::find(stage_.gradients_from, from, &GradientSource::stage);
    if (source != stage_.gradients_from.end()) {
      note(Fact::peer_has_own, source->of_own_outputs);
      note(Fact::peer_has_passing, source->of_others_outputs);
    }
  }

  const Schedule& schedule_;
  const StageFacts& stage_;
  const Task& task_;
  Facts found_ = 0;
};

/// Turns operands into buffers.
class OperandFinder {
 public:
  OperandFinder(const Schedule& schedule, const StageFacts& stage, const Task& task)
      : schedule_(schedule),
        stage_(stage),
        task_(task),
        facts_(FactFinder(schedule, stage, task).find()) {}

  void add(std::span<const Operand> operands, std::vector<Buffer>& out) const {
    for (const Operand& operand : operands) {
      if ((operand.when & facts_) == operand.when) {
        add(operand, out);
      }
    }
  }

 private:
  void add(const Operand& operand, std::vector<Buffer>& out) const {
    const std::int32_t slot = slot_of(operand);
    switch (operand.extent) {
      case Extent::caller:
        out.push_back({operand.kind, 0, 0, 0, 0});
        break;
      case Extent::place:
        out.push_back({operand.kind, task_.place, 0, slot, 0});
        break;
      case Extent::micro_batch:
        out.push_back({operand.kind, task_.place, task_.micro_batch, slot, 0});
        break;
      case Extent::segment:
        out.push_back({operand.kind, task_.place, task_.micro_batch, slot,
                       segment_of(schedule_, task_.nodes.begin)});
        break;
      case Extent::sources:
        add_sources(operand, out);
        break;
      case Extent::node:
        out.push_back({operand.kind, task_.place, task_.micro_batch, slot, task_.nodes.begin});
        break;
      case Extent::update_of_node:
        out.push_back({operand.kind, task_.place, task_.update, slot, task_.nodes.begin});
        break;
      case Extent::divided_nodes:
        for (const std::int32_t node : divided_nodes(schedule_, task_.samples, task_.nodes)) {
          out.push_back(
              {operand.kind, task_.place, update_of(schedule_, task_.samples), slot, node});
        }
        break;
      case Extent::parts_of_task:
        add_parts(operand.kind, task_.elements, slot, out);
        break;
      case Extent::parts_of_nodes:
        add_parts(operand.kind, elements_of(schedule_, task_.nodes), slot, out);
        break;
      case Extent::parts_owned:
        add_owned(operand.kind, out);
        break;
      case Extent::parameters_of_task:
        add_parameters(operand.kind, task_.elements, slot, out);
        break;
      case Extent::parameters_of_nodes:
        add_parameters(operand.kind, elements_of(schedule_, task_.nodes), slot, out);
        break;
      case Extent::kept_versions:
      case Extent::gathered:
        add_named(operand, slot, out);
        break;
    }
  }

  /// Forward reads what forward has made, all others what there is for backward.
  void add_sources(const Operand& operand, std::vector<Buffer>& out) const {
    const bool for_backward = task_.kind != TaskKind::statistics || task_.of_gradients;
    for (const std::int32_t source :
         sources_of(schedule_, segment_of(schedule_, task_.nodes.begin))) {
      const bool returned = operand.slot == slot_kept && for_backward &&
                            keeping_on(schedule_, task_.place, source) != Keeping::kept;
      out.push_back({operand.kind, task_.place, task_.micro_batch,
                     static_cast<std::int32_t>(returned), source});
    }
  }

  std::int32_t slot_of(const Operand& operand) const {
    return operand.slot == slot_of_task        ? task_.slot
           : operand.slot == slot_kept         ? static_cast<std::int32_t>(task_.recomputed)
           : operand.slot == slot_of_direction ? static_cast<std::int32_t>(task_.of_gradients)
           : operand.slot == slot_at_rest      ? static_cast<std::int32_t>(comes_from_file())
           : operand.slot == slot_loaded
               ? static_cast<std::int32_t>(loads_ahead(schedule_, task_.place))
               : operand.slot;
  }

  bool comes_from_file() const {
    return keeping_on(schedule_, task_.place, segment_of(schedule_, task_.nodes.begin)) ==
           Keeping::spilled;
  }

  void add_parts(BufferKind kind, const ElementRange& elements, std::int32_t slot,
                 std::vector<Buffer>& out) const {
    for (const std::int32_t part : overlapping_parts(schedule_, stage_, elements)) {
      out.push_back({kind, task_.place, 0, slot, part});
    }
  }

  void add_parameters(BufferKind kind, const ElementRange& elements, std::int32_t slot,
                      std::vector<Buffer>& out) const {
    if (schedule_.part_owners.empty()) {
      out.push_back({kind, task_.place, 0, slot, 0});
    } else {
      add_parts(kind, elements, slot, out);
    }
  }

  void add_owned(BufferKind kind, std::vector<Buffer>& out) const {
    for (const std::int32_t part : stage_.parts) {
      if (schedule_.part_owners.empty() ||
          schedule_.part_owners[static_cast<std::size_t>(part)] == task_.place) {
        out.push_back({kind, task_.place, 0, 0, part});
      }
    }
  }

  void add_named(const Operand& operand, std::int32_t slot, std::vector<Buffer>& out) const {
    std::ranges::copy_if(task_.reads, std::back_inserter(out), [&](const Buffer& buffer) {
      return buffer.kind == operand.kind && buffer.place == task_.place &&
             (operand.extent == Extent::gathered
                  ? buffer.part == task_.nodes.begin && buffer.slot == slot
                  : buffer.slot > 0 && is_whole(buffer));
    });
  }

  /// True for a buffer that parameters of the whole stage consist of.
  bool is_whole(const Buffer& buffer) const {
    std::vector<Buffer> all;
    add_parameters(buffer.kind, stage_.elements, buffer.slot, all);
    return std::ranges::find(all, buffer) != all.end();
  }

  const Schedule& schedule_;
  const StageFacts& stage_;
  const Task& task_;
  Facts facts_;
};

}  // namespace

void find_operands(const Schedule& schedule, const StageFacts& stage, const Task& task,
                   Operands& operands) {
  operands.reads.clear();
  operands.writes.clear();
  const TaskTraits& kind = traits_of(task.kind);
  const PayloadTraits& payload = traits_of(task.payload);
  const OperandFinder finder(schedule, stage, task);
  finder.add(kind.reads, operands.reads);
  finder.add(kind.writes, operands.writes);
  if (kind.sends) {
    finder.add(payload.source, operands.reads);
    if (rounds_source(task)) {
      finder.add(payload.source, operands.writes);
    }
  } else if (kind.messages == Reads::one_message) {
    finder.add(payload.target, operands.writes);
  }
}

}  // namespace zygos::schedule
