// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/stopwatch_run.hpp"

#include "core/median.hpp"
#include "train/queues/task_queues.hpp"

#include "zygos/plan/profile.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

namespace zygos::measure {
namespace {

using schedule::Queue;
using schedule::Schedule;

/// More of them would hardly move a median: small models need not be measured for as long.
constexpr std::size_t max_steps = 300;
/// Share of a task's time that others must have computed, for it to count as accompanied.
constexpr double nearly_all = 0.9;

/// Records of one step, by line.
using StepRecords = std::vector<std::vector<train::TaskRecord>>;

std::map<std::uint64_t, StepRecords> records_by_step(train::Engine& engine, std::size_t lines) {
  std::map<std::uint64_t, StepRecords> steps;
  for (std::size_t line = 0; line < lines; ++line) {
    for (const train::TaskRecord& record : engine.trace().of(line)) {
      StepRecords& step = steps[record.step];
      step.resize(lines);
      step[line].push_back(record);
    }
  }
  return steps;
}

double overlap(const train::TaskRecord& one, const train::TaskRecord& other) {
  return std::max(0.0, std::min(one.end_s, other.end_s) - std::max(one.start_s, other.start_s));
}

/// Mean over the other places' compute lines of the share of the record's time they were busy.
double company(const train::TaskRecord& record, std::size_t place, const StepRecords& step,
               std::size_t others) {
  double busy_s = 0.0;
  for (std::size_t line = 0; line < step.size(); line += schedule::queue_count) {
    if (train::place_of_line(line) != place) {
      for (const train::TaskRecord& other : step[line]) {
        busy_s += overlap(record, other);
      }
    }
  }
  const double length_s = record.end_s - record.start_s;
  return others > 0 && length_s > 0.0 ? busy_s / (length_s * static_cast<double>(others)) : 0.0;
}

/// A thread that is asleep wakes late, one that spins at once: what both cost on average,
/// without the few that the system made wait for something else.
double mean_of_most(std::vector<double> values) {
  std::ranges::sort(values);
  values.resize(values.size() - values.size() / 20);
  return values.empty() ? 0.0
                        : std::max(0.0, std::accumulate(values.begin(), values.end(), 0.0) /
                                            static_cast<double>(values.size()));
}

class Summary {
 public:
  explicit Summary(const train::Engine& engine)
      : engine_(engine),
        schedule_(engine.schedule()),
        others_(schedule_.active_places().size() - 1),
        spin_timeout_s_(std::chrono::duration<double>(engine_.spin_timeout()).count()),
        task_s_(schedule_.tasks.size()),
        core_s_(schedule_.tasks.size()),
        accompanied_s_(schedule_.tasks.size()) {}

  void add(const StepRecords& step, double wall_s) {
    double first_s = 0.0, last_s = 0.0;
    bool any = false;
    std::vector<double> computed_s;  // until when, by place
    for (std::size_t line = 0; line < step.size(); ++line) {
      const auto& records = step[line];
      if (line % schedule::queue_count == 0 && !records.empty()) {
        computed_s.push_back(records.back().end_s);
      }
      for (std::size_t i = 0; i < records.size(); ++i) {
        add_record(records[i], step, train::place_of_line(line));
        first_s = any ? std::min(first_s, records[i].start_s) : records[i].start_s;
        last_s = any ? std::max(last_s, records[i].end_s) : records[i].end_s;
        any = true;
        if (i > 0 && others_ == 0) {
          gaps_.push_back(records[i].start_s - records[i - 1].end_s);
        }
      }
    }
    const auto last = std::ranges::count_if(
        computed_s, [&](double end_s) { return end_s >= last_s - plan::joint_end_s; });
    overheads_.push_back(wall_s - (last_s - first_s));
    (last > 1 ? joint_overheads_ : single_overheads_).push_back(overheads_.back());
    add_handovers(step);
  }

  void finish(MeasuredPoint& point) {
    for (std::size_t id = 0; id < task_s_.size(); ++id) {
      point.task_s.push_back(median(std::move(task_s_[id])));
      point.core_s.push_back(median(std::move(core_s_[id])));
      point.accompanied_s.push_back(median(std::move(accompanied_s_[id])));
    }
    point.overhead_s = std::max(0.0, median(std::move(overheads_)));
    point.single_overhead_s = median_or_none(std::move(single_overheads_));
    point.joint_overhead_s = median_or_none(std::move(joint_overheads_));
    point.gap_s = std::max(0.0, median(std::move(gaps_)));
    point.handover_s = mean_of_most(std::move(handovers_));
    point.wake_s = mean_of_most(std::move(wakes_));
    point.message_handover_s = mean_of_most(std::move(message_handovers_));
  }

 private:
  static double median_or_none(std::vector<double> overheads) {
    return overheads.empty() ? -1.0 : std::max(0.0, median(std::move(overheads)));
  }

  void add_handovers(const StepRecords& step) {
    std::vector<double> ended_s(schedule_.tasks.size(), -1.0);
    for (const auto& records : step) {
      for (const train::TaskRecord& record : records) {
        ended_s[static_cast<std::size_t>(record.task)] = record.end_s;
      }
    }
    for (std::size_t line = 0; line < step.size(); ++line) {
      const bool computes = line % schedule::queue_count == 0;
      if (engine_.one_driver(train::place_of_line(line))) {
        if (computes) {
          add_handovers(ended_s, of_driver(step, line), true);
        }
      } else {
        add_handovers(ended_s, step[line], computes);
      }
    }
  }

  /// What the thread that has all queues of a place did, one after the other.
  static std::vector<train::TaskRecord> of_driver(const StepRecords& step,
                                                  std::size_t compute_line) {
    std::vector<train::TaskRecord> all;
    for (const Queue one : {Queue::compute, Queue::outgoing, Queue::incoming}) {
      const auto queue = static_cast<std::size_t>(one);
      all.insert(all.end(), step[compute_line + queue].begin(), step[compute_line + queue].end());
    }
    std::ranges::sort(all, {}, &train::TaskRecord::start_s);
    return all;
  }

  const schedule::Task& task_of(const train::TaskRecord& record) const {
    return schedule_.tasks[static_cast<std::size_t>(record.task)];
  }

  /// `ended_s`: by task, in this step. Records of one thread.
  void add_handovers(const std::vector<double>& ended_s,
                     const std::vector<train::TaskRecord>& records, bool computes) {
    double own_s = 0.0;
    for (const train::TaskRecord& record : records) {
      double others_s = -1.0;
      bool for_computing = false;
      for (const auto before : task_of(record).after) {
        const auto id = static_cast<std::size_t>(before);
        if (ended_s[id] > others_s) {
          others_s = ended_s[id];
          for_computing = schedule_.tasks[id].queue == Queue::compute;
        }
      }
      if (others_s > own_s) {
        const bool one = engine_.one_driver(static_cast<std::size_t>(task_of(record).place));
        const bool slept = (one || for_computing) && others_s - own_s > spin_timeout_s_;
        auto& found = !computes ? message_handovers_ : slept ? wakes_ : handovers_;
        found.push_back(record.start_s - others_s);
      }
      own_s = std::max(own_s, record.end_s);
    }
  }

  void add_record(const train::TaskRecord& record, const StepRecords& step, std::size_t place) {
    const auto id = static_cast<std::size_t>(record.task);
    task_s_[id].push_back(record.end_s - record.start_s);
    core_s_[id].push_back(record.core_s);
    if (schedule_.tasks[id].queue == Queue::compute &&
        company(record, place, step, others_) >= nearly_all) {
      accompanied_s_[id].push_back(record.end_s - record.start_s);
    }
  }

  const train::Engine& engine_;
  const Schedule& schedule_;
  std::size_t others_;
  double spin_timeout_s_;
  std::vector<std::vector<double>> task_s_, core_s_, accompanied_s_;
  std::vector<double> overheads_, single_overheads_, joint_overheads_, gaps_, handovers_, wakes_,
      message_handovers_;
};

}  // namespace

MeasuredPoint measure_steps(train::Engine& engine, const NextBatch& next, double seconds,
                            LongSteps long_steps) {
  std::uint64_t step = 0;
  train::Batch behind = next();
  const auto one_step = [&] {
    const train::Batch batch = std::exchange(behind, next());
    return engine.step(batch, ++step, &behind).seconds;
  };
  const bool once = one_step() > seconds && long_steps == LongSteps::one;
  const std::size_t least = once ? 1 : 3;
  if (!once) {
    one_step();  // warms up, too
  }
  const std::uint64_t warm_up_steps = step;
  engine.trace().clear();
  MeasuredPoint point;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (point.step_s.size() < least || (point.step_s.size() < max_steps && elapsed() < seconds)) {
    point.step_s.push_back(one_step());
  }
  const Schedule& schedule = engine.schedule();
  const std::size_t lines = schedule.places.size() * schedule::queue_count;
  Summary summary(engine);
  for (const auto& [number, records] : records_by_step(engine, lines)) {
    summary.add(records, point.step_s[number - warm_up_steps - 1]);
  }
  summary.finish(point);
  return point;
}

}  // namespace zygos::measure
