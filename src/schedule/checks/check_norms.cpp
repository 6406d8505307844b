// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace zygos::schedule {
namespace {

/// Follows squares from the gradient they are of to the update that is clipped by their norm.
class NormCheck {
 public:
  NormCheck(const Schedule& schedule, const BufferUses& buffers)
      : schedule_(schedule), buffers_(buffers), writers_(buffers.count(), nobody) {}

  void visit(std::size_t index) {
    index_ = index;
    const Task& task = schedule_.tasks[index];
    if (task.kind == TaskKind::squares) {
      squares(task);
    } else if ((task.kind == TaskKind::update && task.clips) || task.kind == TaskKind::confirm) {
      update(task);
    } else if (task.kind == TaskKind::norm) {
      norm(task);
    } else if (task.payload == Payload::squares) {
      send();
    }
    for (const std::uint32_t buffer : buffers_.writes(index)) {
      writers_[buffer] = static_cast<TaskId>(index);
    }
  }

  Findings finish() && { return std::move(findings_); }

 private:
  /// Squares of one task: of what, and who had written that.
  struct Squares {
    ElementRange elements;
    std::int32_t update = 0;
    std::map<std::uint32_t, TaskId> of;
  };

  void report(const std::string& what) {
    findings_.push_back(label_of(schedule_, index_) + " " + what);
  }
  bool is(std::uint32_t buffer, BufferKind kind) const {
    return buffers_.buffer(buffer).kind == kind;
  }

  void squares(const Task& task) {
    Squares made{task.elements, task.update, {}};
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      made.of[buffer] = writers_[buffer];
    }
    // All buffers of one task say the same; the first stands for them.
    bool first = true;
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      held_[buffer] = first ? std::vector<Squares>{made} : std::vector<Squares>{};
      first = false;
    }
  }

  void send() {
    std::vector<Squares> all = read_here();
    for (const std::uint32_t buffer : buffers_.writes(index_)) {
      held_[buffer] = all;
    }
  }

  std::vector<Squares> read_here() {
    std::vector<Squares> all;
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      std::ranges::copy(held_[buffer], std::back_inserter(all));
    }
    return all;
  }

  void norm(const Task& task) {
    std::vector<Squares> all = read_here();
    std::ranges::sort(all, {}, [](const Squares& one) { return one.elements.begin; });
    const ElementRange model =
        elements_of(schedule_, {0, static_cast<std::int32_t>(schedule_.parameters.size())});
    std::int64_t next = model.begin;
    for (const Squares& one : all) {
      require_next(next, one.elements.begin);
      next = std::max(next, one.elements.end);
      if (one.update != task.update) {
        report("makes the norm of update " + std::to_string(task.update) +
               " from squares of update " + std::to_string(one.update));
      }
    }
    require_next(next, model.end);
    norms_[task.place] = {task.update, std::move(all)};
  }

  void require_next(std::int64_t next, std::int64_t begin) {
    if (begin != next) {
      const ElementRange wrong{std::min(begin, next), std::max(begin, next)};
      report(std::string(begin > next ? "leaves out" : "takes twice") +
             " the squares of elements " + text_of(wrong));
    }
  }

  void update(const Task& task) {
    const auto& [update, all] = norms_[task.place];
    if (update != task.update) {
      report("clips update " + std::to_string(task.update) + " by the norm of update " +
             std::to_string(update));
    }
    for (const std::uint32_t buffer : buffers_.reads(index_)) {
      if (is(buffer, BufferKind::gradients) || is(buffer, BufferKind::reduced_gradients)) {
        require_measured(buffer, all);
      }
    }
  }

  void require_measured(std::uint32_t buffer, const std::vector<Squares>& all) {
    const std::string name = text_of(buffers_.buffer(buffer), schedule_.places);
    const auto found =
        std::ranges::find_if(all, [&](const Squares& one) { return one.of.contains(buffer); });
    if (found == all.end()) {
      report("clips " + name + ", which its norm leaves out");
    } else if (found->of.at(buffer) != writers_[buffer]) {
      report("takes " + name + " as " + label_of(schedule_, index_of(writers_[buffer])) +
             " has left it, after its squares were summed");
    }
  }

  static std::size_t index_of(TaskId id) { return static_cast<std::size_t>(id); }

  const Schedule& schedule_;
  const BufferUses& buffers_;
  std::vector<TaskId> writers_;                                   ///< by buffer, the last one
  std::unordered_map<std::uint32_t, std::vector<Squares>> held_;  ///< by buffer
  std::map<Place, std::pair<std::int32_t, std::vector<Squares>>> norms_;  ///< update and of what
  std::size_t index_ = 0;
  Findings findings_;
};

}  // namespace

Findings check_norms(const Schedule& schedule, const BufferUses& buffers, const RunOrder& order) {
  return findings_of(NormCheck(schedule, buffers), order);
}

}  // namespace zygos::schedule
