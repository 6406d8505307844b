// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a deck leaves open about its lanes, decided for this machine.
#pragma once

#include "zygos/core/machine.hpp"
#include "zygos/lane/lane.hpp"

#include <optional>
#include <vector>

namespace zygos::app {

/// A lane as a deck asks for it.
struct LaneRequest {
  lane::LaneSpec spec;           ///< kind and threads as below
  bool any_device = false;       ///< a GPU if there is one, an emulated device otherwise
  std::optional<int> threads{};  ///< none: this machine's cores, shared out
};

struct Machine {
  int cores = 1;    ///< this process may use
  int devices = 0;  ///< GPUs this build can use
  /// Numbers of the cores, if lanes may divide them among themselves.
  std::vector<int> core_numbers{};
};

/// This process on this machine, with as many cores as `limits` let it keep busy.
Machine this_machine(const GroupLimits& limits = group_limits());

/// Every emulated lane gets one thread, the host lane the other cores, at least one; a GPU's driver
/// thread sleeps most of the time and counts for nothing. Lanes that fill the machine exactly get
/// cores of their own: left to itself, the system often puts two lanes that wait for each other on
/// one core.
std::vector<lane::LaneSpec> resolve_lanes(std::vector<LaneRequest> requests,
                                          const Machine& machine);

}  // namespace zygos::app
