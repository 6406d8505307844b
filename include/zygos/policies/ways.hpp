// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// All ways to run a problem: what every policy would make of it, and which one is recommended.
#pragma once

#include "zygos/memory/category.hpp"
#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"
#include "zygos/plan/recommendation.hpp"
#include "zygos/policies/choice.hpp"
#include "zygos/train/policy.hpp"

#include <functional>
#include <string>
#include <vector>

namespace zygos::policies {

struct Way {
  PolicyChoice choice;
  train::PolicyOptions decisions;  ///< that it made from the profile

  /// The choice with what was decided: with it, and without a profile, the schedule is the same.
  PolicyChoice decided() const { return {choice.keyword, merged(choice.options, decisions)}; }
};

struct Ways {
  plan::Recommendation found;
  std::vector<Way> ways;  ///< by candidate

  const plan::Candidate& best() const { return found.candidates[found.best]; }
  const Way& best_way() const { return ways[found.best]; }
};

/// What to look at, and how.
struct WaySearch {
  std::vector<std::string> among{};  ///< keywords; empty: every registered policy
  /// Keywords of policies that may be recommended even if they change what is learnt. They are also
  /// tried as `make` makes them without options.
  std::vector<std::string> named{};
  std::function<train::PolicyPtr(const PolicyChoice&)> make{};  ///< empty: policy_from()
  /// By lane; throws MemoryError where a schedule does not fit. Empty: memory is no matter.
  std::function<std::vector<memory::Usage>(const schedule::Schedule&)> memory{};
};

/// What a planner looks at for a policy that is itself `chosen_by_planner()`, or for any other one,
/// whose own options then come first.
WaySearch search_for(const train::Policy& policy);

/// Simulates the candidates of the policies; those that a policy or `memory` refuses become
/// refusals. Policies that change what is learnt are ranked with the others, and recommended only
/// if they are named. Throws MemoryError if nothing fits, UsageError if no policy can run at all.
Ways find_ways(const plan::Problem& problem, const plan::Profile& profile, const WaySearch& search);

/// Makes a registered policy with these options, all others at their defaults. Throws
/// deck::DeckError for an unknown option, UsageError for an unknown keyword.
train::PolicyPtr policy_from(const PolicyChoice& choice);

}  // namespace zygos::policies
