// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/slice_factors.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/sharding.hpp"
#include "zygos/plan/simulator.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace zygos::plan {
namespace {

using schedule::Schedule;
using schedule::Task;
using schedule::TaskKind;

/// Slices of one kind of a layer on a lane, over the tasks of one direction.
struct SliceTimes {
  double measured_s = 0.0;
  double predicted_s = 0.0;

  /// What takes next to nothing says nothing.
  double factor() const {
    constexpr double most = 10.0;
    return predicted_s > 0.0 && measured_s > 0.0
               ? std::clamp(measured_s / predicted_s, 1.0 / most, most)
               : 1.0;
  }
};

struct BothDirections {
  SliceTimes forward{};
  SliceTimes backward{};
  double share = 0.0;
};

class SliceLessons {
 public:
  SliceLessons(const Schedule& schedule, const Profile& profile)
      : schedule_(schedule),
        profile_(profile),
        slices_(sharded_profile(profile, schedule.slices, schedule.output_bytes)) {}

  /// What it took, and was predicted to take.
  void add(const Task& task, double measured_s, double predicted_s) {
    if (task.kind != TaskKind::forward && task.kind != TaskKind::backward) {
      return;
    }
    const std::size_t lane = schedule_.lane_of(task.place);
    const std::vector<double> node_s = seconds_of(task, slices_.places[lane]);
    double slices_s = 0.0;
    double others_s = node_s.back();
    for (std::int32_t i = 0; i < task.nodes.count(); ++i) {
      (slice_at(task, i).kind == SliceKind::whole ? others_s : slices_s) +=
          node_s[static_cast<std::size_t>(i)];
    }
    if (slices_s <= 0.0) {
      return;
    }
    // Other lanes slow all parts of a task alike.
    const double predicted_slices_s = predicted_s * slices_s / (slices_s + others_s);
    const double measured_slices_s = std::max(0.0, measured_s - (predicted_s - predicted_slices_s));
    for (std::int32_t i = 0; i < task.nodes.count(); ++i) {
      if (slice_at(task, i).kind != SliceKind::whole) {
        const double part = node_s[static_cast<std::size_t>(i)] / slices_s;
        add_slice(lane, task.kind, slice_at(task, i), part * measured_slices_s,
                  part * predicted_slices_s);
      }
    }
  }

  void write_to(Profile& profile) const {
    for (const auto& [what, both] : found_) {
      const auto& [lane, node, kind] = what;
      PlaceProfile& place = profile.places[lane];
      if (place.factor_of(node, kind) == nullptr) {
        place.slices.push_back(
            {node, kind, both.share, both.forward.factor(), both.backward.factor()});
      }
    }
  }

 private:
  const ModelSlice& slice_at(const Task& task, std::int32_t i) const {
    return schedule_.slices[static_cast<std::size_t>(task.nodes.begin + i)];
  }

  /// By node of the task, and behind them what it takes beside them.
  std::vector<double> seconds_of(const Task& task, const PlaceProfile& place) const {
    const PlaceCosts& costs = place.together.forward.empty() ? place.alone : place.together;
    const auto& curves = costs.of(task.kind);
    std::vector<double> seconds;
    for (auto node = task.nodes.begin; node < task.nodes.end; ++node) {
      seconds.push_back(curves.at(static_cast<std::size_t>(node)).at(task.samples.count()));
    }
    seconds.push_back(costs.pass_s + profile_.task_overhead_s);
    return seconds;
  }

  void add_slice(std::size_t lane, TaskKind direction, const ModelSlice& slice, double measured_s,
                 double predicted_s) {
    BothDirections& both = found_[{lane, slice.node, slice.kind}];
    SliceTimes& times = direction == TaskKind::forward ? both.forward : both.backward;
    times.measured_s += measured_s;
    times.predicted_s += predicted_s;
    both.share = slice.share();
  }

  const Schedule& schedule_;
  const Profile& profile_;
  Profile slices_;  ///< of the schedule's model
  std::map<std::tuple<std::size_t, std::int32_t, SliceKind>, BothDirections> found_;
};

}  // namespace

bool has_unmeasured_slices(const Schedule& schedule, const Profile& profile) {
  return std::ranges::any_of(schedule.tasks, [&](const Task& task) {
    if (!schedule::is_pass(task.kind) || schedule.slices.empty()) {
      return false;
    }
    const PlaceProfile& place = profile.places.at(schedule.lane_of(task.place));
    const std::span slices(schedule.slices);
    return std::ranges::any_of(slices.subspan(static_cast<std::size_t>(task.nodes.begin),
                                              static_cast<std::size_t>(task.nodes.count())),
                               [&](const ModelSlice& slice) {
                                 return slice.kind != SliceKind::whole &&
                                        place.factor_of(slice.node, slice.kind) == nullptr;
                               });
  });
}

void learn_slices(const Schedule& schedule, std::span<const double> task_s, Profile& profile) {
  ZYGOS_REQUIRE(task_s.size() == schedule.tasks.size(), "every task has a time");
  const Simulation predicted = simulate(schedule, profile);
  SliceLessons lessons(schedule, profile);
  for (std::size_t id = 0; id < schedule.tasks.size(); ++id) {
    const TaskTime& time = predicted.tasks[id];
    lessons.add(schedule.tasks[id], task_s[id], time.end_s - time.start_s);
  }
  lessons.write_to(profile);
}

}  // namespace zygos::plan
