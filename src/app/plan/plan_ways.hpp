// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// All ways to run a deck on its lanes: what every policy of this build would make of it.
#pragma once

#include "app/plan/policy_choice.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/plan/recommendation.hpp"

#include <string>
#include <vector>

namespace zygos::app {

struct Way {
  PolicyChoice choice;
  train::PolicyOptions decisions;  ///< that it made from the profile
};

struct Ways {
  plan::Recommendation found;
  std::vector<Way> ways;             ///< by candidate
  std::vector<std::string> remarks;  ///< what can be said without measuring
};

/// Simulates the candidates of every registered policy, each with its memory; those that a policy
/// or a budget refuses become refusals. Policies that change what is learnt are ranked with the
/// others, and recommended only if the deck names them. Throws MemoryError if nothing fits.
Ways find_ways(const RunSetup& setup, const plan::Profile& profile);

}  // namespace zygos::app
