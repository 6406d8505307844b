// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/clocks.hpp"
#include "schedule/coverage.hpp"

#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace zygos::schedule {
namespace {

/// By task: the tasks it starts after, `after` and the one before it on its queue.
using Edges = std::vector<std::vector<std::size_t>>;
using Findings = std::vector<std::string>;

/// What exists before the first task of a step.
bool exists_before(const Buffer& buffer) {
  return buffer.kind == BufferKind::batch || buffer.kind == BufferKind::optimizer_state ||
         buffer.kind == BufferKind::averaged_weights ||
         (buffer.kind == BufferKind::weights && buffer.slot == 0);
}

Findings check_references(const Schedule& schedule) {
  Findings findings;
  const auto tasks = static_cast<TaskId>(schedule.tasks.size());
  const auto places = static_cast<Place>(schedule.places.size());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    if (task.place < 0 || task.place >= places) {
      findings.push_back(label_of(schedule, id) + " is on place " + std::to_string(task.place) +
                         "; the run has " + std::to_string(places));
    }
    for (const TaskId before : task.after) {
      if (before < 0 || before >= tasks) {
        findings.push_back(label_of(schedule, id) + " waits for task " + std::to_string(before) +
                           ", which does not exist");
      }
    }
  }
  return findings;
}

Edges edges_of(const Schedule& schedule) {
  Edges before(schedule.tasks.size());
  std::vector<std::optional<std::size_t>> last(schedule.places.size() * queue_count);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& task = schedule.tasks[id];
    for (const TaskId earlier : task.after) {
      before[id].push_back(static_cast<std::size_t>(earlier));
    }
    auto& previous = last[line_of(task)];
    if (previous) {
      before[id].push_back(*previous);
    }
    previous = id;
  }
  return before;
}

/// Kahn's order; tasks on a cycle or behind one are missing from it.
std::vector<std::size_t> topological(const Edges& before) {
  std::vector<std::size_t> open(before.size());
  Edges next(before.size());
  std::vector<std::size_t> order;
  for (std::size_t id = 0; id < before.size(); ++id) {
    open[id] = before[id].size();
    for (const std::size_t earlier : before[id]) {
      next[earlier].push_back(id);
    }
    if (open[id] == 0) {
      order.push_back(id);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t later : next[order[i]]) {
      if (--open[later] == 0) {
        order.push_back(later);
      }
    }
  }
  return order;
}

/// Walks backwards among the tasks that can't start until one comes up again.
std::string describe_cycle(const Schedule& schedule, const Edges& before,
                           const std::vector<std::size_t>& order) {
  std::vector<bool> stuck(before.size(), true);
  for (const std::size_t id : order) {
    stuck[id] = false;
  }
  std::vector<std::size_t> path;
  std::vector<bool> visited(before.size(), false);
  auto at = static_cast<std::size_t>(std::ranges::find(stuck, true) - stuck.begin());
  while (!visited[at]) {
    visited[at] = true;
    path.push_back(at);
    at = *std::ranges::find_if(before[at], [&](std::size_t earlier) { return stuck[earlier]; });
  }
  std::string text = "deadlock: ";
  for (auto step = std::ranges::find(path, at); step != path.end(); ++step) {
    text += label_of(schedule, *step) + " waits for ";
  }
  return text + label_of(schedule, at);
}

Clocks clocks_of(const Schedule& schedule, const Edges& before,
                 const std::vector<std::size_t>& order) {
  Clocks clocks(schedule.tasks.size(), schedule.places.size());
  for (const std::size_t id : order) {
    for (const std::size_t earlier : before[id]) {
      clocks.join(id, earlier);
    }
    clocks.close(id, line_of(schedule.tasks[id]));
  }
  return clocks;
}

/// Follows every buffer through the tasks in an order they could run in. Each access is compared
/// with the last write and each write with the reads since: if these are ordered, so are all.
class AccessCheck {
 public:
  AccessCheck(const Schedule& schedule, const Clocks& clocks)
      : schedule_(schedule), clocks_(clocks) {}

  void visit(std::size_t id) {
    for (const Buffer& buffer : schedule_.tasks[id].reads) {
      read(id, buffer);
    }
    for (const Buffer& buffer : schedule_.tasks[id].writes) {
      write(id, buffer);
    }
  }

  Findings take() { return std::move(findings_); }

 private:
  struct Uses {
    std::optional<std::size_t> writer;
    std::vector<std::size_t> readers;  ///< since then
  };

  void read(std::size_t id, const Buffer& buffer) {
    Uses& uses = uses_[buffer];
    if (uses.writer) {
      require_order(*uses.writer, id, buffer);
    } else if (!exists_before(buffer)) {
      findings_.push_back(label_of(schedule_, id) + " reads " + text_of(buffer, schedule_.places) +
                          " before any task has written it");
    }
    uses.readers.push_back(id);
  }

  void write(std::size_t id, const Buffer& buffer) {
    Uses& uses = uses_[buffer];
    if (uses.writer) {
      require_order(*uses.writer, id, buffer);
    }
    for (const std::size_t reader : uses.readers) {
      require_order(reader, id, buffer);
    }
    uses = {id, {}};
  }

  void require_order(std::size_t earlier, std::size_t later, const Buffer& buffer) {
    if (earlier == later || clocks_.ended_before(earlier, later) ||
        !reported_.insert(std::minmax(earlier, later)).second) {
      return;
    }
    const auto [first, second] = std::minmax(earlier, later);
    findings_.push_back(label_of(schedule_, first) + " and " + label_of(schedule_, second) +
                        " both use " + text_of(buffer, schedule_.places) +
                        ", one of them writes it, and nothing orders them");
  }

  const Schedule& schedule_;
  const Clocks& clocks_;
  std::map<Buffer, Uses> uses_;
  std::set<std::pair<std::size_t, std::size_t>> reported_;
  Findings findings_;
};

Findings check_accesses(const Schedule& schedule, const Edges& before,
                        const std::vector<std::size_t>& order) {
  const Clocks clocks = clocks_of(schedule, before, order);
  AccessCheck check(schedule, clocks);
  for (const std::size_t id : order) {
    check.visit(id);
  }
  return check.take();
}

}  // namespace

std::vector<std::string> validate(const Schedule& schedule) {
  Findings findings = check_references(schedule);
  if (!findings.empty()) {
    return findings;
  }
  const Edges before = edges_of(schedule);
  const auto order = topological(before);
  if (order.size() < before.size()) {
    findings.push_back(describe_cycle(schedule, before, order));
  } else {
    findings = check_accesses(schedule, before, order);
  }
  std::ranges::move(check_coverage(schedule), std::back_inserter(findings));
  return findings;
}

}  // namespace zygos::schedule
