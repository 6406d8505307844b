// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What work costs on each place, measured layer by layer, so that a schedule nobody has ever run
// can be given times: other stages, other micro-batches, other parts of the gradient.
#pragma once

#include "zygos/core/slice.hpp"
#include "zygos/lane/await_change.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/plan/pass_history.hpp"
#include "zygos/schedule/task.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace zygos::plan {

/// Seconds as a function of an amount of work, piecewise linear through measured points. Beyond
/// them the outer piece goes on, but never as if more work cost less, or costs grew faster than the
/// work: a noisy pair of points must not decide what ten times the work takes. With one point:
/// constant.
class Curve {
 public:
  /// Points may come in any order; a repeated abscissa keeps the smaller value.
  void add(std::int64_t amount, double seconds);
  /// The same, but a repeated abscissa takes the new value.
  void set(std::int64_t amount, double seconds);
  double at(std::int64_t amount) const;
  /// The same with every value multiplied.
  Curve scaled(double factor) const;
  /// The same with every value so much larger.
  Curve raised(double seconds) const;
  bool empty() const noexcept { return points_.empty(); }
  const std::vector<std::pair<std::int64_t, double>>& points() const noexcept { return points_; }

 private:
  std::vector<std::pair<std::int64_t, double>> points_;
};

/// Proportional to the amount, beside what comes with any amount.
Curve straight_line(double constant_s, double per_unit_s);
/// Seconds over bytes of a link: latency + bytes / bandwidth.
Curve curve_of(const lane::Link& link);
/// The link whose times are nearest to a curve over bytes, small and large messages counting alike
/// (least squares of relative errors). Bandwidth 0, which means unlimited, if time does not grow.
lane::Link fit_link(const Curve& curve);

/// Amount of work that a task's seconds are a function of: samples for forward, backward and loss;
/// elements for squares, update and average; else the bytes that it moves.
std::int64_t amount_of(const schedule::Task& task);

/// Measured costs of one place in one situation.
struct PlaceCosts {
  std::vector<Curve> forward;   ///< by node, over samples
  std::vector<Curve> backward;  ///< by node, over samples
  double pass_s = 0.0;          ///< of each forward or backward task, beside its nodes' time
  std::map<schedule::TaskKind, Curve> others;  ///< all other kinds, over amount_of() a task
  /// Of kinds that move messages: seconds for which they need a core, over the same amount. What a
  /// link does by itself is not in it.
  std::map<schedule::TaskKind, Curve> core{};

  bool empty() const noexcept { return forward.empty() && backward.empty() && others.empty(); }
  /// By node; backward's, or for every other pass, recomputing too, forward's.
  std::vector<Curve>& of(schedule::TaskKind kind) {
    return kind == schedule::TaskKind::backward ? backward : forward;
  }
  const std::vector<Curve>& of(schedule::TaskKind kind) const {
    return kind == schedule::TaskKind::backward ? backward : forward;
  }
  /// Seconds of a forward or backward pass over some nodes. Throws InternalError if one of them was
  /// not measured.
  double pass_seconds(schedule::TaskKind kind, schedule::NodeRange nodes,
                      std::int64_t samples) const;
};

/// By node: seconds that a pass takes more, or below zero less, than the first one of a step. Empty
/// if not measured.
struct PassDifferences {
  std::vector<double> forward{};
  std::vector<double> backward{};

  friend bool operator==(const PassDifferences&, const PassDifferences&) = default;
  std::vector<double>& of(schedule::TaskKind kind) {
    return kind == schedule::TaskKind::backward ? backward : forward;
  }
  const std::vector<double>& of(schedule::TaskKind kind) const {
    return kind == schedule::TaskKind::backward ? backward : forward;
  }
};

/// Of passes over slices of a layer: what they took in a schedule that was measured, over what
/// sharded_profile() says without it.
struct SliceFactor {
  std::int32_t node = 0;  ///< of the whole model
  SliceKind kind = SliceKind::outputs;
  double share = 0.0;  ///< of the layer, that the measured slice had: ModelSlice::share()
  double forward = 1.0;
  double backward = 1.0;

  friend bool operator==(const SliceFactor&, const SliceFactor&) = default;
  double of(schedule::TaskKind direction) const {
    return direction == schedule::TaskKind::backward ? backward : forward;
  }
};

/// Bytes per second of copies between places of one lane, in the lane's memory: an assumption, not
/// measured, on the safe side for memory that a core shares with others.
inline constexpr double local_copy_bytes_per_s = 10e9;

/// Costs of a place that works alone and of one that works while all others do: shared caches,
/// memory bandwidth and clocks make these differ. One of them may be missing.
struct PlaceProfile {
  PlaceCosts alone;
  PlaceCosts together;
  bool host_accessible =
      false;  ///< its gradients and weights are read where they lie: see schedule::is_read_in_place
  int threads = 1;  ///< cores that it computes on; of a device the one that waits for it
  /// Of passes that aren't the first over a node, see PassHistory.
  PassDifferences again{};
  PassDifferences alternating{};
  /// Its three queues share one thread, see lane::LaneSet::one_driver.
  bool one_driver = false;
  std::vector<SliceFactor> slices{};  ///< at most one of each node and kind; see learn_slices()

  /// Null if slices of the node and kind have none.
  const SliceFactor* factor_of(std::int32_t node, SliceKind kind) const;
};

/// Places end a step jointly if they do so within this of each other: a lane's thread that has
/// ended spins for lane::computing_spin_timeout, and half of that leaves no doubt.
inline constexpr double joint_end_s =
    std::chrono::duration<double>(lane::computing_spin_timeout).count() / 2;

/// What was measured on one machine for one model and set of lanes.
struct Profile {
  std::vector<PlaceProfile> places;
  /// Start and end of a step, outside its tasks: if one place is the last at work, and if
  /// several end it jointly, so that the thread that waits for them finds a core that spins.
  double step_overhead_s = 0.0;
  double joint_overhead_s = 0.0;
  double task_overhead_s = 0.0;  ///< between two tasks of a queue
  /// Until a task starts that waited for one of another thread: one that computes; one that
  /// computes, waited for one that does so elsewhere, and for longer than its thread spins;
  /// one that moves a message. Where a place has one thread for all, any of its tasks takes one of
  /// the first two.
  double handover_s = 0.0;
  double wake_s = 0.0;
  double message_handover_s = 0.0;
  /// For how long threads that compute spin, see lane::LaneSet::spin_timeout.
  double spin_timeout_s = std::chrono::duration<double>(lane::computing_spin_timeout).count();
  /// That lanes and the threads that move their messages share; 0: enough for all.
  int cores = 0;

  /// Seconds of a task on its place, the overhead between tasks included. Recomputing costs a
  /// forward; kinds that were not measured are charged as their nearest relative (a fetch as a
  /// stash, a broadcast as a send, an average as copying the weights it reads); what peers read
  /// where it lies costs nothing to send. Costs of the other situation stand in for missing ones;
  /// InternalError if there are none either.
  double seconds(const schedule::Task& task, bool together) const {
    return seconds_on(task.place, task, together);
  }
  /// True if seconds() has a value for the task, from work alone or together.
  bool knows(const schedule::Task& task) const;
  /// The same task done by another place.
  double seconds_on(schedule::Place place, const schedule::Task& task, bool together) const;
  /// seconds() of a pass that the place has done others before. Other kinds of tasks take what they
  /// always do.
  double seconds_behind(const schedule::Task& task, PassHistory history, bool together) const;
  /// Share of a core, 0 to 1, that moving a message takes while it lasts; 0 of tasks that compute.
  double core_share(const schedule::Task& task) const;
};

}  // namespace zygos::plan
