// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers with statistics over a batch that is divided: passes stop in front of them, and go on when
// the statistics of all samples are there.
#include "schedule/builder/stage_facts.hpp"
#include "schedule/order/reorder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/schedule/batch_statistics.hpp"
#include "zygos/schedule/builder.hpp"

#include <algorithm>
#include <tuple>

namespace zygos::schedule {
namespace {

/// Statistics that are gathered together: update, node, of gradients or not.
using GatherKey = std::tuple<std::int32_t, std::int32_t, bool>;

GatherKey key_of(const Task& task) { return {task.update, task.nodes.begin, task.of_gradients}; }

}  // namespace

void ScheduleBuilder::statistics(Place place, MicroBatch micro_batch, std::int32_t node,
                                 bool of_gradients) {
  Task task = on_samples(TaskKind::statistics, place, micro_batch);
  task.nodes = {node, node + 1};
  task.update = update_of(schedule_, task.samples);
  task.of_gradients = of_gradients;
  const bool kept = keeping_on(schedule_, place, segment_of(schedule_, node)) == Keeping::kept;
  task.recomputed = of_gradients && (!kept || !forward_of(place, micro_batch).second);
  add(std::move(task));
}

/// Behind the last of them, each place sends its statistics, if there are others', and gathers all.
void ScheduleBuilder::gather_statistics() {
  std::map<GatherKey, std::map<Place, std::vector<Buffer>>> made;
  std::map<GatherKey, std::size_t> last;
  for (std::size_t id = 0; id < schedule_.tasks.size(); ++id) {
    const Task& task = schedule_.tasks[id];
    if (task.kind == TaskKind::statistics) {
      made[key_of(task)][task.place].push_back(task.writes.front());
      last[key_of(task)] = id;
    }
  }
  if (made.empty()) {
    return;
  }
  std::vector<Task> tasks = std::exchange(schedule_.tasks, {});
  for (std::size_t id = 0; id < tasks.size(); ++id) {
    const GatherKey key = key_of(tasks[id]);
    const bool gathers = tasks[id].kind == TaskKind::statistics && last.at(key) == id;
    schedule_.tasks.push_back(std::move(tasks[id]));
    if (gathers) {
      all_gather(key, made.at(key));
    }
  }
  tasks = reordered(schedule_.tasks);
  if (tasks.empty()) {
    throw UsageError(
        "policy '" + outline_.policy +
        "' updates weights while samples of the same mean are still to come, but a layer of this "
        "model needs statistics of all of them first (batch_norm); give it 'group' or 'deferred', "
        "or take another policy");
  }
  schedule_.tasks = std::move(tasks);
}

void ScheduleBuilder::all_gather(const StatisticsKey& key,
                                 const std::map<Place, std::vector<Buffer>>& made) {
  // Not on the queues beside computing: there is nothing to compute until this has gone through,
  // and handing it to another thread takes longer than to send it.
  const auto carrying = [&](TaskKind kind, Place place) {
    Task task = on(kind, place);
    task.payload = Payload::statistics;
    task.nodes = {std::get<1>(key), std::get<1>(key) + 1};
    task.update = std::get<0>(key);
    task.of_gradients = std::get<2>(key);
    return task;
  };
  std::vector<TaskId> sent;
  for (const auto& [place, own] : made) {
    if (made.size() > 1) {
      Task task = carrying(TaskKind::broadcast, place);
      task.queue = Queue::compute;
      task.reads = own;
      task.bytes = statistics_bytes(own);
      task.writes = {new_message(place)};
      sent.push_back(add(std::move(task)));
    }
  }
  for (const auto& [place, own] : made) {
    Task task = carrying(TaskKind::all_gather, place);
    task.reads = own;
    read_others(task, sent);
    add(std::move(task));
  }
}

std::int64_t ScheduleBuilder::statistics_bytes(const std::vector<Buffer>& statistics) const {
  const auto rows = statistics_rows(schedule_);
  std::int64_t bytes = 0;
  for (const Buffer& buffer : statistics) {
    bytes += rows_within(rows, samples(buffer.micro_batch)).count() *
             row_length(schedule_, buffer.part) * static_cast<std::int64_t>(sizeof(double));
  }
  return bytes;
}

}  // namespace zygos::schedule
