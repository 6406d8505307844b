// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace zygos::schedule {
namespace {

/// What a slot of a place's weights, or a part of it, holds.
struct Weights {
  Version version = 0;
  TaskId since = nobody;
};

class VersionCheck {
 public:
  explicit VersionCheck(const Schedule& schedule)
      : schedule_(schedule),
        facts_(schedule),
        parts_(std::max<std::size_t>(1, schedule.part_owners.size())),
        slots_(schedule.places.size(), std::vector<Weights>(parts_)),
        resting_(schedule.places.size()),
        filed_(schedule.places.size()),
        averaged_(schedule.places.size(), nobody) {
    for (std::size_t part = 0; part < schedule.part_owners.size(); ++part) {
      for (Place place = 0; place < std::ssize(slots_); ++place) {
        const Buffer weights{BufferKind::weights, place, 0, 0, static_cast<std::int32_t>(part)};
        if (lifetime_of(schedule, weights) != Lifetime::run) {
          held_in(weights).version = -1;
        }
      }
    }
  }

  void visit(std::size_t index) {
    id_ = static_cast<TaskId>(index);
    const Task& task = schedule_.tasks[index];
    switch (task.kind) {
      case TaskKind::forward:
      case TaskKind::recompute:
      case TaskKind::backward:
        require_version(task, task.slot, task.version);
        break;
      case TaskKind::update:
      case TaskKind::speculate:
        require_version(task, 0, task.version - 1);
        set_version(task);
        break;
      case TaskKind::confirm:
        require_version(task, 0, task.version);
        set_version(task);
        break;
      case TaskKind::stash:
      case TaskKind::offload:
        require_version(task, 0, task.version);
        set_version(task);
        break;
      case TaskKind::fetch:
      case TaskKind::read_weights:
        require_version(task, task.slot, task.version);
        set_version(task);
        break;
      case TaskKind::write_weights:
        require_version(task, task.reads.front().slot, task.version);
        set_version(task);
        break;
      case TaskKind::average:
        average(task);
        break;
      case TaskKind::send:
      case TaskKind::broadcast:
      case TaskKind::receive:
        transfer(task);
        break;
      case TaskKind::load:
      case TaskKind::copy:
      case TaskKind::loss:
      case TaskKind::reduce:
      case TaskKind::all_reduce:
      case TaskKind::statistics:
      case TaskKind::all_gather:
      case TaskKind::offload_activations:
      case TaskKind::fetch_activations:
      case TaskKind::write_activations:
      case TaskKind::read_activations:
      case TaskKind::write_states:
      case TaskKind::read_states:
      case TaskKind::squares:
      case TaskKind::compress:
      case TaskKind::norm:
        break;
    }
  }

  Findings finish() && {
    if (schedule_.equal_replicas) {
      compare_replicas();
    }
    return std::move(findings_);
  }

 private:
  std::string label(TaskId id) const { return label_of(schedule_, static_cast<std::size_t>(id)); }
  std::string text(const Buffer& buffer) const { return text_of(buffer, schedule_.places); }
  void report(const std::string& what) { findings_.push_back(label(id_) + " " + what); }

  static std::size_t index_of(Place place) { return static_cast<std::size_t>(place); }

  Weights& held_in(const Buffer& buffer) {
    auto& held = (buffer.kind == BufferKind::weights           ? slots_
                  : buffer.kind == BufferKind::stashed_weights ? resting_
                                                               : filed_)[index_of(buffer.place)];
    const std::size_t index =
        static_cast<std::size_t>(buffer.slot) * parts_ + static_cast<std::size_t>(buffer.part);
    if (index >= held.size()) {
      held.resize((static_cast<std::size_t>(buffer.slot) + 1) * parts_, {-1, nobody});
    }
    return held[index];
  }

  static bool is_weights(const Buffer& buffer, Place place, std::int32_t slot) {
    const bool of_weights = buffer.kind == BufferKind::weights ||
                            buffer.kind == BufferKind::stashed_weights ||
                            buffer.kind == BufferKind::spilled_weights;
    return of_weights && buffer.place == place && buffer.slot == slot;
  }

  /// The weights of the slot that the task reads must be `version`.
  void require_version(const Task& task, std::int32_t from, Version version) {
    const TaskId average = averaged_[static_cast<std::size_t>(task.place)];
    for (const Buffer& buffer : task.reads) {
      if (!is_weights(buffer, task.place, from)) {
        continue;
      }
      const Weights& held = held_in(buffer);
      if (held.version != version) {
        return report("needs weights v" + std::to_string(version) + "; " + text(buffer) +
                      " holds v" + std::to_string(held.version) +
                      (held.since == nobody ? "" : " since " + label(held.since)));
      }
      if (from == 0 && average != nobody && task.kind != TaskKind::broadcast) {
        return report("uses weights that " + label(average) + " has averaged, which ends a step");
      }
    }
  }

  /// The weights that the task writes are those of its version from now on.
  void set_version(const Task& task) {
    for (const Buffer& buffer : task.writes) {
      if (is_weights(buffer, task.place, buffer.slot)) {
        held_in(buffer) = {task.version, id_};
      }
    }
  }

  void average(const Task& task) {
    require_version(task, 0, task.version);
    const auto& slots = slots_[static_cast<std::size_t>(task.place)];
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Buffer buffer{BufferKind::weights, task.place, 0, static_cast<std::int32_t>(i / parts_),
                          static_cast<std::int32_t>(i % parts_)};
      const bool kept = slots[i].version >= 0;
      const bool read = std::ranges::find(task.reads, buffer) != task.reads.end();
      if (kept && !read) {
        report("leaves out " + text(buffer) + ", a version that is kept");
      }
    }
    averaged_[static_cast<std::size_t>(task.place)] = id_;
  }

  void transfer(const Task& task) {
    if (task.payload != Payload::weights) {
      return;
    }
    if (writes_messages(task.kind)) {
      require_version(task, 0, task.version);
    } else {
      set_version(task);
      averaged_[static_cast<std::size_t>(task.place)] = nobody;
    }
  }

  void compare_replicas() {
    std::map<Stage, Buffer> first;
    std::vector<bool> works(schedule_.places.size(), false);
    for (const Task& task : schedule_.tasks) {
      const bool uses = task.kind == TaskKind::forward || makes_version(task.kind);
      works[static_cast<std::size_t>(task.place)] =
          works[static_cast<std::size_t>(task.place)] || uses;
    }
    for (std::size_t place = 0; place < works.size(); ++place) {
      if (!works[place]) {
        continue;
      }
      for (const Buffer& weights : weights_of(static_cast<Place>(place))) {
        if (lifetime_of(schedule_, weights) != Lifetime::run) {
          continue;  // gone when the step ends
        }
        const Stage stage = stage_of(weights);
        const auto [one, fresh] = first.try_emplace(stage, weights);
        const Version held = held_in(weights).version;
        const Version other = held_in(one->second).version;
        if (held != other) {
          findings_.push_back("stage " + std::to_string(stage) + " ends the step with weights v" +
                              std::to_string(other) + on_text(one->second) + " and v" +
                              std::to_string(held) + on_text(weights));
        }
      }
    }
  }

  std::string on_text(const Buffer& weights) const {
    return " on " + schedule_.places[static_cast<std::size_t>(weights.place)] +
           (schedule_.part_owners.empty() ? "" : " part " + std::to_string(weights.part));
  }

  /// That computes with them; the place itself may only own them.
  Stage stage_of(const Buffer& weights) const {
    const Stage own = schedule_.stage_of[static_cast<std::size_t>(weights.place)];
    for (std::size_t stage = 0; stage < schedule_.stages.size() && own < 0; ++stage) {
      if (overlap(elements_of(schedule_, schedule_.stages[stage]),
                  schedule_.parts[static_cast<std::size_t>(weights.part)])) {
        return static_cast<Stage>(stage);
      }
    }
    return own;
  }

  std::vector<Buffer> weights_of(Place place) const {
    if (schedule_.part_owners.empty()) {
      return {{BufferKind::weights, place, 0, 0, 0}};
    }
    std::vector<Buffer> all;
    for (const std::int32_t part : facts_[place].parts) {
      all.push_back({BufferKind::weights, place, 0, 0, part});
    }
    return all;
  }

  const Schedule& schedule_;
  PlaceFacts facts_;
  std::size_t parts_;                          ///< of a slot
  std::vector<std::vector<Weights>> slots_;    ///< by place, then slot and part
  std::vector<std::vector<Weights>> resting_;  ///< likewise, in host memory
  std::vector<std::vector<Weights>> filed_;    ///< likewise, in the place's file
  std::vector<TaskId> averaged_;               ///< by place: since which the weights are a mean
  TaskId id_ = 0;
  Findings findings_;
};

}  // namespace

Findings check_versions(const Schedule& schedule, const RunOrder& order) {
  return findings_of(VersionCheck(schedule), order);
}

}  // namespace zygos::schedule
