// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/exposed_time.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace zygos::plan {
namespace {

using schedule::Buffer;
using schedule::Payload;
using schedule::Place;
using schedule::Schedule;
using schedule::Stage;
using schedule::Task;
using schedule::TaskKind;

/// Of the place, or of its peer where it computes nothing.
Stage stage_of(const Schedule& schedule, const Task& task) {
  const Stage own = schedule.stage_of[static_cast<std::size_t>(task.place)];
  return own >= 0 || task.peer < 0 ? own : schedule.stage_of[static_cast<std::size_t>(task.peer)];
}

/// Follows the first forward pass of a place.
class BroadcastDelay {
 public:
  BroadcastDelay(const Schedule& schedule, std::span<const TaskTime> times, Place place)
      : schedule_(schedule), times_(times), place_(place) {}

  double seconds() {
    for (std::size_t id = 0; id < times_.size() && !is_over_; ++id) {
      if (schedule_.tasks[id].place == place_) {
        follow(schedule_.tasks[id], times_[id]);
      }
    }
    return delay_s_;
  }

 private:
  void follow(const Task& task, const TaskTime& time) {
    if (task.kind == TaskKind::receive && task.payload == Payload::weights) {
      for (const Buffer& buffer : task.writes) {
        arrival_s_[buffer] = time.end_s;
      }
    } else if (task.kind == TaskKind::forward && (!begun_ || task.micro_batch == *begun_)) {
      begun_ = task.micro_batch;
      for (const Buffer& buffer : task.reads) {
        const auto arrival = arrival_s_.find(buffer);
        delay_s_ =
            arrival == arrival_s_.end() ? delay_s_ : std::max(delay_s_, arrival->second - free_s_);
      }
      free_s_ += time.end_s - time.start_s;
    } else if (task.queue == schedule::Queue::compute) {
      is_over_ = begun_.has_value();
      free_s_ = time.end_s;
    }
  }

  const Schedule& schedule_;
  std::span<const TaskTime> times_;
  Place place_;
  std::map<Buffer, double> arrival_s_;
  std::optional<schedule::MicroBatch> begun_;
  double free_s_ = 0.0;  ///< when the next part could begin
  double delay_s_ = 0.0;
  bool is_over_ = false;
};

}  // namespace

std::vector<double> exposed_broadcast_s(const Schedule& schedule, std::span<const TaskTime> times) {
  ZYGOS_REQUIRE(times.size() == schedule.tasks.size(), "times of another schedule");
  std::vector<double> exposed_s;
  for (Place place = 0; place < static_cast<Place>(schedule.places.size()); ++place) {
    exposed_s.push_back(borrows(schedule, place) ? BroadcastDelay(schedule, times, place).seconds()
                                                 : 0.0);
  }
  return exposed_s;
}

std::vector<double> exposed_exchange_s(const Schedule& schedule, std::span<const TaskTime> times) {
  ZYGOS_REQUIRE(times.size() == schedule.tasks.size(), "times of another schedule");
  double last_backward_s = 0.0;
  for (std::size_t id = 0; id < times.size(); ++id) {
    if (schedule.tasks[id].kind == TaskKind::backward) {
      last_backward_s = std::max(last_backward_s, times[id].end_s);
    }
  }
  std::vector<double> exposed_s(schedule.stages.size(), 0.0);
  for (std::size_t id = 0; id < times.size(); ++id) {
    const Task& task = schedule.tasks[id];
    const Stage stage = stage_of(schedule, task);
    if (task.payload == Payload::gradients && stage >= 0) {
      double& seconds = exposed_s[static_cast<std::size_t>(stage)];
      seconds = std::max(seconds, times[id].end_s - last_backward_s);
    }
  }
  return exposed_s;
}

}  // namespace zygos::plan
