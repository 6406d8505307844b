// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions for machines we do not have: one measured place, taken many times, behind links as
// they are or as somebody says they would be.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/plan/simulator.hpp"

#include <cstdint>
#include <optional>

namespace zygos::plan {

/// Equal workers, each a machine of its own: nobody slows anybody down.
struct Cluster {
  std::int64_t workers = 1;
  /// Of every worker, either way. None: the place's own, as measured.
  std::optional<lane::Link> link;
};

/// The problem of `cluster.workers` places that are all like `place`, "worker0" and so on. None is
/// host-accessible to another: what goes between them is a message.
Problem replicated(const Problem& problem, schedule::Place place, const Cluster& cluster);

/// Costs of one of these places, for simulate_cluster().
Profile worker_profile(const Profile& profile, schedule::Place place, const Cluster& cluster);
/// Costs of all of them, for policies that divide a model among few places.
Profile replicated(const Profile& profile, schedule::Place place, const Cluster& cluster);

/// Data parallel training of the problem's batch, divided as equally as it goes. Gradients are
/// summed in `buckets` of about equal size, last layers first, each by one collective task that
/// starts when all workers have it and runs beside the rest of the backward passes. 2N(N-1)
/// messages of a ring written out would be too many: their cost is ring_seconds(). Tasks: about
/// 4 + buckets for every worker; dependencies as many. Throws UsageError for fewer samples than
/// workers or no bucket.
schedule::Schedule collective_data_parallel(const Problem& problem, std::int64_t buckets);

/// With costs of places that do not share a machine; a profile of one place holds for all.
/// All-reduces of collective_data_parallel() cost ring_seconds() over the workers' links.
Simulation simulate_cluster(const schedule::Schedule& schedule, const Profile& profile);

}  // namespace zygos::plan
