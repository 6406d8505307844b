// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From measured passes to costs by layer.
#pragma once

#include "zygos/plan/profile.hpp"

#include <cstdint>
#include <vector>

namespace zygos::measure {

/// One direction at one number of samples, as one task and as a task per node.
struct PassTimes {
  std::int64_t samples = 0;
  double whole_s = 0.0;
  std::vector<double> node_s;
};

/// Sets forward, backward and pass_s. Nodes timed one by one take longer than together, each with a
/// task's own costs: what all of them have too much is one pass's fixed part, and the rest is
/// scaled so that all nodes together cost what they did in one task.
void set_passes(plan::PlaceCosts& costs, const std::vector<PassTimes>& forward,
                const std::vector<PassTimes>& backward);

/// Shares `seconds` of a pass out among its nodes as `curves` do its time. `by_node` gets a number
/// for each of them and keeps those of other nodes, zero if it had none.
void share_out(double seconds, schedule::NodeRange nodes, std::int64_t samples,
               const std::vector<plan::Curve>& curves, std::vector<double>& by_node);

/// Seconds of a whole pass in another situation than `base` was measured in: every node is taken to
/// be slower by the same factor. `costs` gets a point at so many samples.
void set_whole_pass(plan::PlaceCosts& costs, const plan::PlaceCosts& base, schedule::TaskKind kind,
                    std::int64_t samples, double seconds);

/// Passes over all nodes take longer, at any number of samples by as much as makes it `seconds` at
/// this one; never less long.
void raise_pass(plan::PlaceCosts& costs, schedule::TaskKind kind, std::int64_t samples,
                double seconds);

/// A curve over bytes or elements with a single point gets a second one, a task's fixed costs at
/// zero: otherwise half the work would cost as much as all of it.
void anchor(plan::PlaceCosts& costs);

}  // namespace zygos::measure
