// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/schedule.hpp"

#include "schedule/order.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace zygos::schedule {
namespace {

bool has_nodes(TaskKind kind) { return kind == TaskKind::forward || kind == TaskKind::backward; }

bool has_samples(TaskKind kind) {
  return kind == TaskKind::load || kind == TaskKind::copy || kind == TaskKind::forward ||
         kind == TaskKind::loss || kind == TaskKind::backward;
}

bool is_for_evaluation(TaskKind kind) {
  return kind == TaskKind::load || kind == TaskKind::copy || kind == TaskKind::forward ||
         kind == TaskKind::loss;
}

std::string list_text(const std::vector<Buffer>& buffers, const std::vector<std::string>& places) {
  std::string out;
  for (const Buffer& buffer : buffers) {
    out += (out.empty() ? "" : ", ") + text_of(buffer, places);
  }
  return out.empty() ? "-" : out;
}

std::string order_text(const std::vector<TaskId>& after) {
  std::string out;
  for (const TaskId id : after) {
    out += (out.empty() ? "" : " ") + std::to_string(id);
  }
  return out.empty() ? "-" : out;
}

}  // namespace

std::string Schedule::name_of(TaskId id) const {
  const Task& task = tasks[static_cast<std::size_t>(id)];
  const auto place = static_cast<std::size_t>(task.place);
  std::string out = std::string(schedule::name_of(task.kind)) + "@" +
                    (place < places.size() ? places[place] : std::to_string(task.place));
  if (has_nodes(task.kind)) {
    out += " nodes " + text_of(task.nodes);
  }
  if (has_samples(task.kind)) {
    out += " samples " + text_of(task.samples);
  }
  return out;
}

SampleRange Schedule::samples_of(Place place) const {
  SampleRange all;
  for (const Task& task : tasks) {
    if (task.place != place || task.kind != TaskKind::load) {
      continue;
    }
    all = all.count() == 0 ? task.samples
                           : SampleRange{std::min(all.begin, task.samples.begin),
                                         std::max(all.end, task.samples.end)};
  }
  return all;
}

std::vector<Place> Schedule::active_places() const {
  std::set<Place> active;
  for (const Task& task : tasks) {
    active.insert(task.place);
  }
  return {active.begin(), active.end()};
}

Schedule Schedule::for_evaluation() const {
  Schedule out{policy, places, batch, {}};
  std::ranges::copy_if(tasks, std::back_inserter(out.tasks),
                       [](const Task& task) { return is_for_evaluation(task.kind); });
  // A wait for a task that is left out would be lost, and what that task stood for is gone.
  derive_order(out);
  return out;
}

std::string Schedule::text() const {
  std::string out = "policy " + policy + ", batch " + std::to_string(batch) + ", places";
  for (const std::string& place : places) {
    out += " " + place;
  }
  out += "\n";
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const Task& task = tasks[id];
    out += std::to_string(id) + ": " + name_of(static_cast<TaskId>(id)) + "; after " +
           order_text(task.after) + "; reads " + list_text(task.reads, places) + "; writes " +
           list_text(task.writes, places) + "\n";
  }
  return out;
}

}  // namespace zygos::schedule
