// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/checks.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace zygos::schedule {
namespace {

std::vector<std::size_t> tasks_of(const Schedule& schedule, TaskKind kind) {
  std::vector<std::size_t> found;
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    if (schedule.tasks[id].kind == kind) {
      found.push_back(id);
    }
  }
  return found;
}

/// `tasks` must work on every sample of the batch exactly once. `what` names their common work.
void check_exact(const Schedule& schedule, std::vector<std::size_t> tasks, const std::string& what,
                 std::vector<std::string>& findings) {
  const auto samples_of = [&](std::size_t id) { return schedule.tasks[id].samples; };
  std::ranges::sort(tasks, {}, [&](std::size_t id) { return samples_of(id).begin; });
  std::int64_t next = 0;
  const auto lost = [&](std::int64_t begin, std::int64_t end) {
    findings.push_back("samples " + text_of(SampleRange{begin, end}) +
                       " are lost: no task does the " + what + " of them");
  };
  for (const std::size_t id : tasks) {
    const auto [begin, end] = samples_of(id);
    if (begin > next) {
      lost(next, begin);
    } else if (begin < next && begin < end) {
      findings.push_back(label_of(schedule, id) + " does the " + what + " of samples " +
                         text_of(SampleRange{begin, std::min(next, end)}) + " a second time");
    }
    if (end > schedule.batch) {
      findings.push_back(label_of(schedule, id) + " goes beyond the batch of " +
                         std::to_string(schedule.batch));
    }
    next = std::max(next, end);
  }
  if (next < schedule.batch) {
    lost(next, schedule.batch);
  }
}

/// Tasks may cut the model differently, so the nodes are looked at between neighbouring cuts.
void check_nodes(const Schedule& schedule, TaskKind kind, std::vector<std::string>& findings) {
  const auto tasks = tasks_of(schedule, kind);
  std::vector<std::int32_t> cuts;
  for (const std::size_t id : tasks) {
    cuts.insert(cuts.end(), {schedule.tasks[id].nodes.begin, schedule.tasks[id].nodes.end});
  }
  if (kind == TaskKind::forward && !tasks.empty()) {
    for (const NodeRange& nodes : schedule.stages) {  // all of the model, or none
      cuts.insert(cuts.end(), {nodes.begin, nodes.end});
    }
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  std::vector<std::vector<std::size_t>> inside(cuts.size());
  for (const std::size_t id : tasks) {
    const NodeRange nodes = schedule.tasks[id].nodes;
    auto cut = static_cast<std::size_t>(std::ranges::lower_bound(cuts, nodes.begin) - cuts.begin());
    for (; cuts[cut] < nodes.end; ++cut) {
      inside[cut].push_back(id);
    }
  }
  for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut) {
    check_exact(schedule, std::move(inside[cut]),
                std::string(name_of(kind)) + " (nodes " +
                    text_of(NodeRange{cuts[cut], cuts[cut + 1]}) + ")",
                findings);
  }
}

}  // namespace

Findings check_coverage(const Schedule& schedule) {
  Findings findings;
  if (const auto losses = tasks_of(schedule, TaskKind::loss); !losses.empty()) {
    check_exact(schedule, losses, "loss", findings);
  }
  // None at all is no finding: evaluation has no backward.
  check_nodes(schedule, TaskKind::forward, findings);
  check_nodes(schedule, TaskKind::backward, findings);
  return findings;
}

}  // namespace zygos::schedule
