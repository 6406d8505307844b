// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/stage_facts.hpp"
#include "schedule/checks/checks.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

template <class List>
bool within(std::int32_t index, const List& list) {
  return index >= 0 && static_cast<std::size_t>(index) < list.size();
}

/// Segments tile the stages, and read from earlier ones.
void check_segments(const Schedule& schedule, Findings& findings) {
  std::vector<NodeRange> stages;
  for (std::size_t i = 0; i < schedule.segments.size(); ++i) {
    const Segment& segment = schedule.segments[i];
    const bool goes_on = !stages.empty() && stages.back().end == segment.nodes.begin &&
                         std::ranges::find(schedule.stages, stages.back()) == schedule.stages.end();
    if (goes_on) {
      stages.back().end = segment.nodes.end;
    } else {
      stages.push_back(segment.nodes);
    }
    const bool earlier = std::ranges::all_of(segment.sources, [&](std::int32_t source) {
      return source >= 0 && static_cast<std::size_t>(source) < i;
    });
    if (!earlier || segment.nodes.end <= segment.nodes.begin) {
      findings.push_back("segment " + std::to_string(i) + " of nodes " + text_of(segment.nodes) +
                         " is empty or reads from one that is not before it");
    }
  }
  if (!schedule.segments.empty() && stages != schedule.stages) {
    findings.push_back("the segments of the schedule do not tile its stages");
  }
}

void require_one_each(const Schedule& schedule, std::size_t count, const char* what,
                      Findings& findings) {
  if (count != schedule.places.size()) {
    findings.push_back("the schedule has " + std::to_string(schedule.places.size()) +
                       " places and says the " + what + " of " + std::to_string(count));
  }
}

/// Where weights and states rest that are not on the lane that uses them.
void check_tiers(const Schedule& schedule, Findings& findings) {
  if (!schedule.streams.empty()) {
    require_one_each(schedule, schedule.streams.size(), "streaming", findings);
    if (schedule.part_owners.empty()) {
      findings.emplace_back("weights are streamed, but parts have no owners they could come from");
    }
  }
  if (!schedule.borrows.empty()) {
    require_one_each(schedule, schedule.borrows.size(), "borrowing", findings);
    if (schedule.part_owners.empty()) {
      findings.emplace_back("weights are borrowed, but parts have no owners they could come from");
    }
  }
  if (!schedule.spills_states.empty()) {
    require_one_each(schedule, schedule.spills_states.size(), "tier of states", findings);
    if (schedule.part_owners.empty()) {
      findings.emplace_back("states rest in a file by part, but parts have no owners");
    }
  }
}

/// Tables with an entry for each node of the model.
void check_nodes(const Schedule& schedule, Findings& findings) {
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    const NodeRange& nodes = schedule.stages[stage];
    const auto known = static_cast<std::int32_t>(schedule.parameters.size());
    if (nodes.begin < 0 || nodes.end < nodes.begin || nodes.end > known) {
      findings.push_back("stage " + std::to_string(stage) + " has nodes " + text_of(nodes) +
                         "; the schedule says the parameters of " + std::to_string(known));
    }
  }
  if (!schedule.statistics.empty() && schedule.statistics.size() != schedule.parameters.size()) {
    findings.push_back(
        "the schedule says the parameters of " + std::to_string(schedule.parameters.size()) +
        " nodes and the statistics of " + std::to_string(schedule.statistics.size()));
  }
  if (!schedule.slices.empty() && schedule.slices.size() != schedule.parameters.size()) {
    findings.push_back("the schedule says the parameters of " +
                       std::to_string(schedule.parameters.size()) + " nodes and what slices " +
                       std::to_string(schedule.slices.size()) + " are");
  }
}

/// The head of a schedule: without it, nothing can be said of the tasks.
Findings check_head(const Schedule& schedule) {
  Findings findings;
  require_one_each(schedule, schedule.stage_of.size(), "stages", findings);
  require_one_each(schedule, schedule.host_accessible.size(), "memory", findings);
  for (const Place lane : schedule.further_lanes) {
    if (lane < 0 || schedule.further_lanes.size() >= schedule.places.size() ||
        static_cast<std::size_t>(lane) >= schedule.lane_count()) {
      findings.push_back("a place is on lane " + std::to_string(lane) +
                         ", and no lane of the run has this number");
    }
  }
  check_tiers(schedule, findings);
  if (!schedule.part_owners.empty() && schedule.part_owners.size() != schedule.parts.size()) {
    findings.push_back("the schedule has " + std::to_string(schedule.parts.size()) +
                       " parts and says the owners of " +
                       std::to_string(schedule.part_owners.size()));
  }
  check_nodes(schedule, findings);
  check_segments(schedule, findings);
  for (const auto* links : {&schedule.activation_links, &schedule.gradient_links}) {
    for (const StageLink& link : *links) {
      if (!within(link.from, schedule.stages) || !within(link.to, schedule.stages)) {
        findings.push_back("a link goes from stage " + std::to_string(link.from) + " to stage " +
                           std::to_string(link.to) + "; there are " +
                           std::to_string(schedule.stages.size()));
      }
    }
  }
  return findings;
}

void check_place(const Schedule& schedule, std::size_t id, Findings& findings) {
  const Place place = schedule.tasks[id].place;
  if (!within(place, schedule.places)) {
    findings.push_back(label_of(schedule, id) + " is on place " + std::to_string(place) +
                       "; the run has " + std::to_string(schedule.places.size()));
  } else if (!within(schedule.stage_of[static_cast<std::size_t>(place)], schedule.stages) &&
             (is_of_samples(schedule.tasks[id]) || !owns_parts(schedule, place))) {
    findings.push_back(label_of(schedule, id) + " is on a place that has no stage");
  }
}

void check_indices(const Schedule& schedule, std::size_t id, Findings& findings) {
  const Task& task = schedule.tasks[id];
  const auto missing = [&](const std::string& what) {
    findings.push_back(label_of(schedule, id) + " " + what + ", which does not exist");
  };
  for (const TaskId before : task.after) {
    if (!within(before, schedule.tasks)) {
      missing("waits for task " + std::to_string(before));
    }
  }
  if (task.not_before != -1 && !within(task.not_before, schedule.tasks)) {
    missing("waits for task " + std::to_string(task.not_before));
  }
  if (schedule.barrier && !task.after_previous.empty()) {
    findings.push_back(label_of(schedule, id) +
                       " waits for tasks of the step before, and a barrier already does");
  }
  for (const TaskId before : task.after_previous) {
    if (!within(before, schedule.tasks)) {
      missing("waits for task " + std::to_string(before) + " of the step before");
    }
  }
  if (task.peer != -1 && !within(task.peer, schedule.places)) {
    missing("has place " + std::to_string(task.peer) + " as its peer");
  }
  if (is_of_samples(task) && !within(task.micro_batch, schedule.micro_batches)) {
    missing("works on micro-batch " + std::to_string(task.micro_batch));
  }
  const bool of_update = traits_of(task.kind).of_update || traits_of(task.payload).of_update;
  if (of_update && !within(task.update, schedule.updates)) {
    missing("belongs to update " + std::to_string(task.update));
  }
}

}  // namespace

std::string label_of(const Schedule& schedule, std::size_t task) {
  return "task " + std::to_string(task) + " (" + schedule.name_of(static_cast<TaskId>(task)) + ")";
}

Findings check_references(const Schedule& schedule) {
  Findings findings = check_head(schedule);
  if (!findings.empty()) {
    return findings;
  }
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    check_place(schedule, id, findings);
    check_indices(schedule, id, findings);
  }
  return findings;
}

}  // namespace zygos::schedule
