// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace zygos::schedule {
namespace {

/// Everything that fixes order: `after`, and the list order within a place.
using Edges = std::vector<std::vector<std::size_t>>;  // by task: its predecessors

struct Checker {
  const Schedule& schedule;
  std::vector<std::string> findings;

  std::string task(std::size_t id) const {
    return "task " + std::to_string(id) + " (" + schedule.name_of(static_cast<TaskId>(id)) + ")";
  }

  bool check_references();
  Edges edges() const;
  std::vector<std::size_t> topological(const Edges& before);
  void check_accesses(const Edges& before, const std::vector<std::size_t>& order);
  void check_buffer(const Buffer& buffer, const std::vector<std::size_t>& users,
                    const std::vector<std::vector<std::uint32_t>>& clocks);
  void check_samples();
};

bool writes(const Task& task, const Buffer& buffer) {
  return std::ranges::find(task.writes, buffer) != task.writes.end();
}

bool reads(const Task& task, const Buffer& buffer) {
  return std::ranges::find(task.reads, buffer) != task.reads.end();
}

/// What exists before the first task of a step.
bool exists_before(BufferKind kind) {
  return kind == BufferKind::batch || kind == BufferKind::weights ||
         kind == BufferKind::optimizer_state;
}

bool Checker::check_references() {
  const auto tasks = static_cast<TaskId>(schedule.tasks.size());
  const auto places = static_cast<Place>(schedule.places.size());
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& one = schedule.tasks[id];
    if (one.place < 0 || one.place >= places) {
      findings.push_back("task " + std::to_string(id) + " is on place " +
                         std::to_string(one.place) + "; there are " + std::to_string(places));
    }
    for (const TaskId before : one.after) {
      if (before < 0 || before >= tasks) {
        findings.push_back("task " + std::to_string(id) + " waits for task " +
                           std::to_string(before) + ", which does not exist");
      }
    }
  }
  return findings.empty();
}

Edges Checker::edges() const {
  Edges before(schedule.tasks.size());
  std::map<Place, std::size_t> last;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const Task& one = schedule.tasks[id];
    for (const TaskId earlier : one.after) {
      before[id].push_back(static_cast<std::size_t>(earlier));
    }
    if (const auto found = last.find(one.place); found != last.end()) {
      before[id].push_back(found->second);
    }
    last[one.place] = id;
  }
  return before;
}

/// Kahn's order; tasks on or behind a cycle are missing from it and reported.
std::vector<std::size_t> Checker::topological(const Edges& before) {
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
  if (order.size() < before.size()) {
    std::string stuck;
    for (std::size_t id = 0; id < open.size(); ++id) {
      if (open[id] > 0) {
        stuck += (stuck.empty() ? "" : ", ") + task(id);
      }
    }
    findings.push_back("these tasks wait for each other and would never start: " + stuck);
  }
  return order;
}

/// A clock counts, per place, the tasks known to have ended; places run their tasks in order, so
/// one number per place says it all and a check costs O(1).
void Checker::check_accesses(const Edges& before, const std::vector<std::size_t>& order) {
  const std::size_t places = schedule.places.size();
  std::vector<std::vector<std::uint32_t>> clocks(before.size(),
                                                 std::vector<std::uint32_t>(places, 0));
  for (const std::size_t id : order) {
    for (const std::size_t earlier : before[id]) {
      for (std::size_t place = 0; place < places; ++place) {
        clocks[id][place] = std::max(clocks[id][place], clocks[earlier][place]);
      }
    }
    ++clocks[id][static_cast<std::size_t>(schedule.tasks[id].place)];
  }
  std::map<Buffer, std::vector<std::size_t>> users;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    for (const auto* list : {&schedule.tasks[id].reads, &schedule.tasks[id].writes}) {
      for (const Buffer& buffer : *list) {
        auto& ids = users[buffer];
        if (ids.empty() || ids.back() != id) {
          ids.push_back(id);
        }
      }
    }
  }
  for (const auto& [buffer, ids] : users) {
    check_buffer(buffer, ids, clocks);
  }
}

void Checker::check_buffer(const Buffer& buffer, const std::vector<std::size_t>& users,
                           const std::vector<std::vector<std::uint32_t>>& clocks) {
  const auto ended_before = [&](std::size_t first, std::size_t second) {
    const auto place = static_cast<std::size_t>(schedule.tasks[first].place);
    return first != second && clocks[second][place] >= clocks[first][place];
  };
  const std::string name = text_of(buffer, schedule.places);
  for (const std::size_t reader : users) {
    if (!reads(schedule.tasks[reader], buffer) || exists_before(buffer.kind)) {
      continue;
    }
    const bool written = std::ranges::any_of(users, [&](std::size_t writer) {
      return writes(schedule.tasks[writer], buffer) && ended_before(writer, reader);
    });
    if (!written) {
      findings.push_back(task(reader) + " reads " + name + " before any task has written it");
    }
  }
  for (std::size_t i = 0; i < users.size(); ++i) {
    for (std::size_t j = i + 1; j < users.size(); ++j) {
      const bool one_writes =
          writes(schedule.tasks[users[i]], buffer) || writes(schedule.tasks[users[j]], buffer);
      if (one_writes && !ended_before(users[i], users[j]) && !ended_before(users[j], users[i])) {
        findings.push_back(task(users[i]) + " and " + task(users[j]) + " both use " + name +
                           ", one of them writes it, and nothing orders them");
      }
    }
  }
}

void Checker::check_samples() {
  std::vector<std::pair<SampleRange, std::size_t>> loads;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].kind == TaskKind::load) {
      loads.emplace_back(schedule.tasks[id].samples, id);
    }
  }
  std::ranges::sort(loads, {}, [](const auto& load) { return load.first.begin; });
  std::int64_t next = 0;
  for (const auto& [samples, id] : loads) {
    if (samples.begin > next) {
      findings.push_back("samples " + std::to_string(next) + "-" + std::to_string(samples.begin) +
                         " are lost: no task loads them");
    } else if (samples.begin < next) {
      findings.push_back(task(id) + " counts samples " + std::to_string(samples.begin) + "-" +
                         std::to_string(std::min(next, samples.end)) + " a second time");
    }
    next = std::max(next, samples.end);
  }
  if (next != schedule.batch) {
    findings.push_back("the tasks load samples up to " + std::to_string(next) + ", the batch has " +
                       std::to_string(schedule.batch));
  }
}

}  // namespace

std::vector<std::string> validate(const Schedule& schedule) {
  Checker checker{schedule, {}};
  if (!checker.check_references()) {
    return checker.findings;
  }
  const Edges before = checker.edges();
  const auto order = checker.topological(before);
  if (order.size() == schedule.tasks.size()) {
    checker.check_accesses(before, order);
  }
  checker.check_samples();
  return checker.findings;
}

}  // namespace zygos::schedule
