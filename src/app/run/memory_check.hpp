// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/plan/memory_plan.hpp"

#include <cstdint>
#include <vector>

namespace zygos::app {

/// Host memory that this process needs for a run, in bytes.
struct HostNeeds {
  std::uint64_t data = 0;         ///< samples that are in memory
  std::uint64_t lanes = 0;        ///< of lanes that compute in it, and in front of the others
  std::uint64_t checkpoints = 0;  ///< the copy that they are written from

  std::uint64_t total() const { return data + lanes + checkpoints; }
};

/// Of the lanes that are this rank's; `memory` is that of all lanes.
HostNeeds host_needs(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory);

/// Throws MemoryError if that is more than `usable` bytes (see usable_memory()). The system would
/// grant the memory and end the process once it is used.
void require_within_machine(const HostNeeds& needs, std::uint64_t usable);

}  // namespace zygos::app
