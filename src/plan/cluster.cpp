// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/cluster.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/formulas.hpp"
#include "zygos/plan/sharding.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace zygos::plan {
namespace {

using schedule::NodeRange;
using schedule::Place;
using schedule::Queue;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

/// Ranges of nodes, last first, that hold about equally many parameters each.
std::vector<NodeRange> bucket_nodes(const schedule::ModelOutline& model, std::int64_t buckets) {
  const std::int64_t all = model.parameters_of(model.all_nodes()).count();
  std::vector<NodeRange> ranges;
  std::int32_t end = model.node_count();
  std::int64_t passed = 0;
  for (std::int32_t node = end; node-- > 0;) {
    passed += model.nodes[static_cast<std::size_t>(node)].parameters.count();
    const auto full = static_cast<std::int64_t>(ranges.size()) + 1;
    if (node == 0 || (full < buckets && passed * buckets >= all * full)) {
      ranges.push_back({node, end});
      end = node;
    }
  }
  return ranges;
}

/// Adds tasks by hand: there are too many of them for buffers and their order to be derived.
class CollectiveSchedule {
 public:
  CollectiveSchedule(const Problem& problem, std::int64_t buckets)
      : problem_(problem), buckets_(bucket_nodes(problem.model, buckets)) {
    out_.policy = "data_parallel";
    out_.batch = problem.batch;
    out_.stages = {problem.model.all_nodes()};
    out_.updates = {{0, problem.batch}};
    for (const PlaceInfo& place : problem.places) {
      out_.places.push_back(place.name);
      out_.stage_of.push_back(0);
    }
    for (const schedule::NodeOutline& node : problem.model.nodes) {
      out_.parameters.push_back(node.parameters);
    }
  }

  Schedule build() {
    const auto workers = static_cast<Place>(problem_.places.size());
    std::vector<std::vector<TaskId>> ready(buckets_.size());
    for (Place worker = 0; worker < workers; ++worker) {
      add_passes(worker, workers, ready);
    }
    std::vector<TaskId> summed;
    for (std::size_t bucket = 0; bucket < buckets_.size() && workers > 1; ++bucket) {
      summed.push_back(add_all_reduce(bucket, std::move(ready[bucket])));
    }
    for (Place worker = 0; worker < workers; ++worker) {
      Task update = on(TaskKind::update, worker);
      update.elements = problem_.model.parameters_of(problem_.model.all_nodes());
      // They end in their order, so the last of them stands for all.
      update.after = summed.empty() ? summed : std::vector<TaskId>{summed.back()};
      add(std::move(update));
    }
    return std::move(out_);
  }

 private:
  static Task on(TaskKind kind, Place place) {
    Task task;
    task.kind = kind;
    task.place = place;
    return task;
  }

  TaskId add(Task task) {
    out_.tasks.push_back(std::move(task));
    return static_cast<TaskId>(out_.tasks.size() - 1);
  }

  void add_passes(Place worker, Place workers, std::vector<std::vector<TaskId>>& ready) {
    const schedule::SampleRange samples{problem_.batch * worker / workers,
                                        problem_.batch * (worker + 1) / workers};
    out_.micro_batches.push_back(samples);
    const auto add_on_samples = [&](TaskKind kind, NodeRange nodes) {
      Task task = on(kind, worker);
      task.samples = samples;
      task.nodes = nodes;
      task.micro_batch = worker;
      if (kind == TaskKind::load || kind == TaskKind::copy) {
        task.bytes = samples.count() * (problem_.model.input_bytes + problem_.model.target_bytes +
                                        schedule::sample_id_bytes);
      }
      return add(std::move(task));
    };
    add_on_samples(TaskKind::load, {});
    if (!problem_.places[static_cast<std::size_t>(worker)].host_accessible) {
      add_on_samples(TaskKind::copy, {});
    }
    add_on_samples(TaskKind::forward, problem_.model.all_nodes());
    add_on_samples(TaskKind::loss, {});
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      ready[bucket].push_back(add_on_samples(TaskKind::backward, buckets_[bucket]));
    }
  }

  TaskId add_all_reduce(std::size_t bucket, std::vector<TaskId> after) {
    Task task = on(TaskKind::all_reduce, 0);
    task.queue = Queue::outgoing;
    task.payload = schedule::Payload::gradients;
    task.elements = problem_.model.parameters_of(buckets_[bucket]);
    task.codec = problem_.codecs.gradients;
    task.bytes =
        schedule::coded_bytes(task.codec, task.elements.count(), problem_.model.element_bytes);
    task.after = std::move(after);
    return add(std::move(task));
  }

  const Problem& problem_;
  std::vector<NodeRange> buckets_;
  Schedule out_;
};

/// Of the places' links, as a line: rings are charged by latency and bandwidth.
lane::Link link_of(const Profile& profile) {
  const PlaceProfile& place = profile.places.front();
  for (const PlaceCosts* costs : {&place.alone, &place.together}) {
    for (const TaskKind kind : {TaskKind::send, TaskKind::receive, TaskKind::copy}) {
      const auto found = costs->others.find(kind);
      if (found != costs->others.end()) {
        return fit_link(found->second);
      }
    }
  }
  return {};
}

/// Seconds to add a byte of a gradient to another.
double add_byte_s(const Profile& profile) {
  const PlaceProfile& place = profile.places.front();
  for (const PlaceCosts* costs : {&place.alone, &place.together}) {
    const auto found = costs->others.find(TaskKind::reduce);
    if (found != costs->others.end()) {
      const lane::Link adding = fit_link(found->second);
      return adding.bytes_per_second > 0.0 ? 1.0 / adding.bytes_per_second : 0.0;
    }
  }
  return 0.0;
}

}  // namespace

Problem replicated(const Problem& problem, Place place, const Cluster& cluster) {
  Problem out = problem;
  out.places.assign(static_cast<std::size_t>(cluster.workers),
                    problem.places.at(static_cast<std::size_t>(place)));
  for (std::size_t worker = 0; worker < out.places.size(); ++worker) {
    out.places[worker].name = "worker" + std::to_string(worker);
  }
  return out;
}

Profile worker_profile(const Profile& profile, Place place, const Cluster& cluster) {
  PlaceProfile one = profile.places.at(static_cast<std::size_t>(place));
  if (one.alone.empty()) {
    one.alone = one.together;
  }
  one.together = {};
  one.host_accessible = false;
  one.one_driver = false;
  if (cluster.link) {
    const Curve link = curve_of(*cluster.link);
    for (const TaskKind kind : {TaskKind::send, TaskKind::broadcast, TaskKind::receive}) {
      one.alone.others[kind] = link;
    }
  }
  // Every worker is a machine of its own: what its cores share was measured with all lanes on one.
  return {{std::move(one)}, profile.step_overhead_s,    profile.task_overhead_s, profile.handover_s,
          profile.wake_s,   profile.message_handover_s, profile.spin_timeout_s};
}

Profile replicated(const Profile& profile, Place place, const Cluster& cluster) {
  Profile out = worker_profile(profile, place, cluster);
  out.places.resize(static_cast<std::size_t>(cluster.workers), out.places.front());
  return out;
}

Schedule collective_data_parallel(const Problem& problem, std::int64_t buckets) {
  const auto workers = static_cast<std::int64_t>(problem.places.size());
  if (buckets < 1 || problem.batch < workers) {
    throw UsageError("data parallel training of " + std::to_string(problem.batch) + " samples on " +
                     std::to_string(workers) + " workers with " + std::to_string(buckets) +
                     " buckets: every worker needs a sample, and a gradient at least one bucket");
  }
  return CollectiveSchedule(problem, buckets).build();
}

Simulation simulate_cluster(const Schedule& schedule, const Profile& whole) {
  const Profile shards = schedule.slices.empty()
                             ? Profile()
                             : sharded_profile(whole, schedule.slices, schedule.output_bytes);
  const Profile& profile = schedule.slices.empty() ? whole : shards;
  const lane::Link link = link_of(profile);
  const double byte_s = link.bytes_per_second > 0.0 ? 1.0 / link.bytes_per_second : 0.0;
  const double adding_s = add_byte_s(profile);
  const auto workers = static_cast<std::int64_t>(schedule.places.size());
  Simulation out = simulate(schedule, [&](const Task& task) {
    return task.kind == TaskKind::all_reduce && task.queue == Queue::outgoing
               ? ring_seconds(workers, task.bytes, link.latency_s, byte_s, adding_s)
               : profile.seconds_on(profile.places.size() == 1
                                        ? 0
                                        : static_cast<Place>(schedule.lane_of(task.place)),
                                    task, false);
  });
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::all_reduce && task.queue == Queue::outgoing) {
      out.bytes += ring_bytes(workers, task.bytes);
      out.messages += ring_messages(workers);
    }
  }
  out.makespan_s += profile.step_overhead_s;
  return out;
}

}  // namespace zygos::plan
