// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order/reorder.hpp"

#include "schedule/builder/buffer_uses.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace zygos::schedule {
namespace {

bool leave_alone(const Task& one, const Task& other) {
  return one.kind == TaskKind::backward && other.kind == TaskKind::backward &&
         (one.nodes.end <= other.nodes.begin || other.nodes.end <= one.nodes.begin);
}

class Reordering {
 public:
  explicit Reordering(const std::vector<Task>& tasks)
      : tasks_(tasks), buffers_(tasks), uses_(buffers_.count()), next_(tasks.size()) {
    for (std::size_t id = 0; id < tasks.size(); ++id) {
      for (const std::uint32_t buffer : buffers_.writes(id)) {
        if (traits_of(buffers_.buffer(buffer).kind).written_once) {
          uses_[buffer].push_back({static_cast<TaskId>(id), true});
        }
      }
    }
    for (std::size_t id = 0; id < tasks.size(); ++id) {
      for (const std::uint32_t buffer : buffers_.reads(id)) {
        use(buffer, static_cast<TaskId>(id), false);
      }
      for (const std::uint32_t buffer : buffers_.writes(id)) {
        use(buffer, static_cast<TaskId>(id), true);
      }
    }
  }

  std::vector<Task> run() {
    std::vector<std::size_t> open(tasks_.size(), 0);
    for (auto& later : next_) {
      std::ranges::sort(later);
      later.erase(std::ranges::unique(later).begin(), later.end());
      for (const TaskId id : later) {
        ++open[static_cast<std::size_t>(id)];
      }
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t id = 0; id < tasks_.size(); ++id) {
      if (open[id] == 0) {
        ready.push(id);
      }
    }
    std::vector<Task> out;
    while (!ready.empty()) {
      const std::size_t id = ready.top();
      ready.pop();
      out.push_back(tasks_[id]);
      for (const TaskId later : next_[id]) {
        const auto index = static_cast<std::size_t>(later);
        if (--open[index] == 0) {
          ready.push(index);
        }
      }
    }
    return out.size() == tasks_.size() ? std::move(out) : std::vector<Task>();
  }

 private:
  struct Use {
    TaskId task = nobody;
    bool writes = false;
  };

  void use(std::uint32_t buffer, TaskId id, bool writes) {
    std::vector<Use>& uses = uses_[buffer];
    if (traits_of(buffers_.buffer(buffer).kind).written_once) {
      if (!writes && !uses.empty()) {
        wait(uses.front().task, id);
      }
      return;
    }
    const Task& task = tasks_[static_cast<std::size_t>(id)];
    bool alone = false;
    for (const Use& earlier : uses) {
      const Task& other = tasks_[static_cast<std::size_t>(earlier.task)];
      const bool apart =
          buffers_.buffer(buffer).kind == BufferKind::gradients && leave_alone(other, task);
      alone |= apart;
      if ((writes || earlier.writes) && !apart && earlier.task != id) {
        wait(earlier.task, id);
      }
    }
    // Whoever comes later waits for this one, and so for all that it has waited for.
    if (writes && !alone) {
      uses.clear();
    }
    uses.push_back({id, writes});
  }

  void wait(TaskId earlier, TaskId later) {
    next_[static_cast<std::size_t>(earlier)].push_back(later);
  }

  const std::vector<Task>& tasks_;
  BufferUses buffers_;
  std::vector<std::vector<Use>> uses_;     ///< by buffer: since somebody waited for all
  std::vector<std::vector<TaskId>> next_;  ///< by task: who waits for it
};

}  // namespace

std::vector<Task> reordered(const std::vector<Task>& tasks) { return Reordering(tasks).run(); }

}  // namespace zygos::schedule
