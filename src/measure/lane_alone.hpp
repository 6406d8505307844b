// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tasks of a step take on a lane while no other lane works.
#pragma once

#include "measure/layer_costs.hpp"
#include "measure/profile_run.hpp"

#include "zygos/plan/problem.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace zygos::measure {

/// Numbers of samples that are a part of the batch and no more than `most`.
template <class Parts>
std::set<std::int64_t> sample_counts(const plan::Problem& problem, const Parts& parts,
                                     std::int64_t most) {
  std::set<std::int64_t> found;
  for (const double part : parts) {
    found.insert(std::min(most, round_samples(problem, part * static_cast<double>(problem.batch))));
  }
  return found;
}

class LaneAlone {
 public:
  using Seen = std::function<void(const MeasuredPoint&)>;

  /// `request` and `problem` must outlive this. `seen` gets every point.
  LaneAlone(const ProfileRequest& request, const plan::Problem& problem, schedule::Place place,
            Seen seen)
      : request_(request), problem_(problem), place_(place), seen_(std::move(seen)) {}

  /// One of the rounds, of which the fastest times count: several numbers of samples with a task
  /// for every node, and the same with one task for a pass over all nodes. False if the lane can't
  /// hold the model.
  bool measure();

  /// Samples that the lane can hold; 0: none, or it was not measured.
  std::int64_t largest() const { return largest_; }
  std::size_t points() const { return passes_.size(); }
  plan::PlaceCosts costs() const;

 private:
  /// With a task for every node, of as many samples as the lane can hold.
  std::unique_ptr<TrialEngine> engine_of_nodes();
  void measure_nodes(TrialEngine& engine);
  void measure_passes();
  void add_others(const schedule::Schedule& schedule, const MeasuredPoint& point,
                  std::int64_t samples);

  struct Passes {
    PassTimes forward, backward;
  };

  const ProfileRequest& request_;
  const plan::Problem& problem_;
  schedule::Place place_;
  Seen seen_;
  std::optional<schedule::Schedule> nodes_;  ///< fits
  std::int64_t largest_ = 0;
  std::map<std::int64_t, Passes> passes_;  ///< by samples
  plan::PlaceCosts others_;                ///< of everything but passes
};

}  // namespace zygos::measure
