// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/schema.hpp"
#include "zygos/deck/value.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/schedule/schedule.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::train {

/// Options of a policy as a deck says them: key and YAML text, {"cuts", "[fc3]"}.
using PolicyOptions = std::vector<std::pair<std::string, std::string>>;

/// A policy maps a problem to a schedule. No Kokkos, no MPI, no threads, no memory.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view keyword() const = 0;
  /// True if schedule() needs a measured profile (a share that is `auto`).
  virtual bool needs_profile() const { return false; }
  /// `profile` may be null unless needs_profile(). Throws UsageError for a problem it can't split.
  virtual schedule::Schedule schedule(const plan::Problem& problem,
                                      const plan::Profile* profile) const = 0;
  /// The options that fix what schedule() decided from a profile: with them, and without a profile,
  /// it makes the same schedule. They go into every checkpoint, so a resumed run has the same bits.
  virtual PolicyOptions decisions(const plan::Problem& problem,
                                  const schedule::Schedule& made) const {
    static_cast<void>(problem), static_cast<void>(made);
    return {};
  }
  /// What a planner should try of this policy on the problem, as options beside the defaults. The
  /// profile may be null. Those that do not fit may be among them: schedule() refuses them. None,
  /// of a policy that is another one by a name of its own: it is tried where it is named.
  virtual std::vector<PolicyOptions> candidates(const plan::Problem& problem,
                                                const plan::Profile* profile) const {
    static_cast<void>(problem), static_cast<void>(profile);
    return {{}};
  }
  /// True of a policy that stands for another one: whoever runs it asks policies::find_ways() for
  /// the one to take in its place, and keeps that one's keyword and options where decisions() go.
  virtual bool chosen_by_planner() const { return false; }
  /// If so: keywords of the policies to choose from; empty: all that do not change what is learnt.
  virtual std::vector<std::string> among() const { return {}; }
  /// If so: how many of the ways that are predicted to be fastest are trained with for some steps
  /// before one is taken; below 2: predictions alone decide.
  virtual std::int64_t trials() const { return 0; }
};

using PolicyPtr = std::shared_ptr<const Policy>;

/// A deck keyword with its options; the registry in policies/ has one line per policy.
struct PolicyEntry {
  deck::Schema schema;
  std::function<PolicyPtr(const deck::Section&)> make;
};

}  // namespace zygos::train
