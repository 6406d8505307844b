// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/checks.hpp"

#include <map>
#include <set>

namespace zygos::schedule {
namespace {

class SpeculationCheck {
 public:
  SpeculationCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule), buffers_(buffers), writers_(buffers.count(), nobody) {}

  void visit(std::size_t index) {
    index_ = index;
    const Task& task = schedule_.tasks[index];
    if (task.kind == TaskKind::confirm) {
      confirm(task);
    } else {
      require_confirmed();
    }
    if (task.kind == TaskKind::speculate) {
      speculate();
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      writers_[buffer] = static_cast<TaskId>(index);
    }
  }

  Findings finish() && {
    std::set<TaskId> open;
    for (const auto& [buffer, task] : speculated_) {
      open.insert(task);
    }
    for (const TaskId task : open) {
      findings_.push_back(label(task) + " is confirmed by no task");
    }
    return std::move(findings_);
  }

 private:
  std::string label(TaskId id) const { return label_of(schedule_, static_cast<std::size_t>(id)); }
  std::string text(std::uint32_t buffer) const {
    return text_of(buffers_.buffer(buffer), schedule_.places);
  }
  void report(const std::string& what) {
    findings_.push_back(label_of(schedule_, index_) + " " + what);
  }
  static bool is_current(BufferKind kind) {
    return kind == BufferKind::weights || kind == BufferKind::optimizer_state;
  }

  void speculate() {
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      if (is_current(buffers_.buffer(buffer).kind)) {
        speculated_[buffer] = static_cast<TaskId>(index_);
      }
    }
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      sources_[static_cast<TaskId>(index_)][buffer] = writers_[buffer];
    }
  }

  /// Of all that the task uses; on other places, too, where it is read where it lies.
  void require_confirmed() {
    const auto require = [&](std::uint32_t buffer) {
      const auto found = speculated_.find(buffer);
      if (found != speculated_.end()) {
        report("uses " + text(buffer) + ", which " + label(found->second) +
               " has speculated and no task has confirmed");
        return false;
      }
      return true;
    };
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      if (!require(buffer)) {
        return;
      }
    }
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      if (!require(buffer)) {
        return;
      }
    }
  }

  void confirm(const Task& task) {
    std::set<TaskId> made_by;
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      const auto found = speculated_.find(buffer);
      if (found == speculated_.end()) {
        return report("confirms " + text(buffer) + ", which no task has speculated");
      }
      made_by.insert(found->second);
      speculated_.erase(found);
    }
    for (const TaskId speculated : made_by) {
      require_same(task, speculated);
    }
  }

  /// There is what the update was made from: its gradient, and what it has overwritten.
  void require_same(const Task& task, TaskId speculated) {
    const Task& made = schedule_.tasks[static_cast<std::size_t>(speculated)];
    if (made.update != task.update) {
      report("confirms update " + std::to_string(task.update) + "; " + label(speculated) +
             " is of update " + std::to_string(made.update));
    }
    const auto& sources = sources_[speculated];
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      const BufferKind kind = buffers_.buffer(buffer).kind;
      const bool kept = kind == BufferKind::previous_weights || kind == BufferKind::previous_state;
      const bool gradient = kind == BufferKind::gradients || kind == BufferKind::reduced_gradients;
      const auto before = sources.find(buffer);
      const bool same = kept       ? writers_[buffer] == speculated
                        : gradient ? before != sources.end() && before->second == writers_[buffer]
                                   : true;
      if (!same) {
        report("takes " + text(buffer) + ", which is not what " + label(speculated) +
               " has worked with");
      }
    }
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  std::vector<TaskId> writers_;                 ///< by buffer, the last one
  std::map<std::uint32_t, TaskId> speculated_;  ///< by buffer that waits to be confirmed
  std::map<TaskId, std::map<std::uint32_t, TaskId>> sources_;  ///< what it read, by whom written
  std::size_t index_ = 0;
  Findings findings_;
};

}  // namespace

Findings check_speculation(const Schedule& schedule, const BufferUses& buffers,
                           const RunOrder& order) {
  return findings_of(SpeculationCheck(schedule, buffers), order);
}

}  // namespace zygos::schedule
