// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a run fits into the memory of its machine, found out before any of it is allocated: the
// system would grant the memory, and end the process once it is used.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/core/machine.hpp"
#include "zygos/plan/memory_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace zygos::app {

/// Host memory that a run needs, in bytes, wherever its lanes are.
struct RunNeeds {
  std::uint64_t data = 0;            ///< of each process: see RunSetup::data_bytes()
  std::vector<std::uint64_t> lanes;  ///< by lane: its own if it is the host's, and in front of it
  std::uint64_t checkpoints = 0;     ///< of the first process: the copy that they are written from
                                     ///< at once, and what it is gathered in
};

/// Host memory that the processes on one host need together, in bytes.
struct HostNeeds {
  std::size_t processes = 1;
  std::uint64_t data = 0;
  std::uint64_t lanes = 0;
  std::uint64_t checkpoints = 0;
  bool may_stream = false;     ///< checkpoints could do with less, and the deck says otherwise
  bool reads_samples = false;  ///< from their file, some batches ahead

  std::uint64_t total() const { return data + lanes + checkpoints; }
};

/// Of the processes `ranks`. `owners`: rank of every lane; empty: one process has all of them.
HostNeeds needs_of(const RunNeeds& run, const std::vector<int>& owners,
                   const std::vector<int>& ranks);

/// Whether checkpoints are written piece by piece: as the deck says (`wanted`; none: auto), or
/// where the memory of the machine, `usable` bytes, has no room for what is needed with a whole
/// copy of the state. Several ranks take whole copies.
bool streams_checkpoints(std::optional<bool> wanted, bool several_ranks, const HostNeeds& whole,
                         std::uint64_t usable);
/// The same of a run; `memory`: see host_needs().
bool streams_checkpoints(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory,
                         std::uint64_t usable = usable_memory());

/// Of all of the run's processes that are on this host; `memory` is that of all lanes.
HostNeeds host_needs(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory,
                     std::uint64_t usable = usable_memory());

/// Throws MemoryError if that is more than `usable` bytes.
void require_within_machine(const HostNeeds& needs, std::uint64_t usable = usable_memory());
/// Throws MemoryError if a lane, or host memory in front of all, needs more than its budget, or the
/// run more than its machine has.
void require_room(const RunSetup& setup, const std::vector<plan::LaneMemory>& memory);
/// As require_within_machine(), of a run by this schedule.
void require_within_machine(const RunSetup& setup, const schedule::Schedule& schedule,
                            std::uint64_t usable = usable_memory());

}  // namespace zygos::app
