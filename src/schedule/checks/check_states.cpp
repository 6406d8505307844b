// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/checks.hpp"

#include <map>

namespace zygos::schedule {
namespace {

class StateCheck {
 public:
  StateCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule), buffers_(buffers) {}

  void visit(std::size_t index) {
    const Task& task = schedule_.tasks[index];
    const bool moves = task.kind == TaskKind::read_states || task.kind == TaskKind::write_states;
    if (moves && !spills_states(schedule_, task.place)) {
      findings_.push_back(label_of(schedule_, index) +
                          " moves states, and those of its place rest in its memory");
    }
    for (const std::uint32_t buffer : buffers_.reads(index)) {
      if (task.kind == TaskKind::write_states) {
        unwritten_.erase(buffer);
      }
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      write(index, buffer);
    }
  }

  Findings finish() && {
    for (const auto& [buffer, task] : unwritten_) {
      findings_.push_back(label_of(schedule_, task) + " leaves " + text(buffer) +
                          ", which no task writes to the file");
    }
    return std::move(findings_);
  }

 private:
  std::string text(std::uint32_t buffer) const {
    return text_of(buffers_.buffer(buffer), schedule_.places);
  }

  void write(std::size_t index, std::uint32_t buffer) {
    const Buffer& states = buffers_.buffer(buffer);
    if (states.kind != BufferKind::optimizer_state || !spills_states(schedule_, states.place)) {
      return;
    }
    if (schedule_.tasks[index].kind != TaskKind::read_states) {
      unwritten_[buffer] = index;
      return;
    }
    const auto updated = unwritten_.find(buffer);
    if (updated != unwritten_.end()) {
      findings_.push_back(label_of(schedule_, index) + " overwrites " + text(buffer) + ", which " +
                          label_of(schedule_, updated->second) +
                          " has updated and no task has written to the file");
    }
  }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  std::map<std::uint32_t, std::size_t> unwritten_;  ///< by buffer in memory, who has updated it
  Findings findings_;
};

}  // namespace

Findings check_states(const Schedule& schedule, const BufferUses& buffers, const RunOrder& order) {
  return findings_of(StateCheck(schedule, buffers), order);
}

}  // namespace zygos::schedule
