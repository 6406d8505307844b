// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// All ways to run a deck on its lanes, each with the memory it takes there.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/policies/ways.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::app {

using policies::Way;

/// A way that was timed, not only predicted.
struct Trial {
  std::size_t candidate = 0;
  double step_s = 0.0;  ///< the median
};

struct Ways : policies::Ways {
  std::vector<std::string> remarks;  ///< what can be said without measuring
  std::vector<Trial> trials{};       ///< try_ways() adds them

  /// Null if the candidate was not tried.
  const Trial* trial_of(std::size_t candidate) const;
};

/// Simulates what the policy leaves a planner to look at, of the deck's policy: the candidates of
/// every registered one, or, of a policy that the planner chooses, those it may choose from. Each
/// with its memory: what a policy, a budget or this machine's memory refuses becomes a refusal (of
/// several processes each machine may say something else, and all have to choose the same: there
/// the machine is asked once it is chosen). Throws MemoryError if nothing fits.
Ways find_ways(const RunSetup& setup, const plan::Profile& profile);
Ways find_ways(const RunSetup& setup, const plan::Profile& profile, const train::Policy& policy);

/// The same by what is known of lanes and layers before anything is measured.
Ways unmeasured_ways(const RunSetup& setup, const train::Policy& policy);

}  // namespace zygos::app
