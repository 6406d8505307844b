// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What this process may use of the machine: less than the machine has where an affinity, a
// container or a batch system says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

namespace zygos {

/// Limits of the control groups that a process is in, the groups above them included.
struct GroupLimits {
  std::uint64_t memory_bytes = std::numeric_limits<std::uint64_t>::max();  ///< this: none
  double cores = std::numeric_limits<double>::infinity();                  ///< this: none
};

/// `membership`: a file like /proc/self/cgroup; `mounts`: a folder like /sys/fs/cgroup, of version
/// 1 (a folder for each controller), 2 or both. What can't be read limits nothing.
GroupLimits group_limits(const std::filesystem::path& membership = "/proc/self/cgroup",
                         const std::filesystem::path& mounts = "/sys/fs/cgroup");

/// Numbers of the cores that this process may run on, in rising order.
std::vector<int> usable_cores();
/// How many of `available` cores its control groups let it keep busy at once: whole ones, at least
/// 1.
int granted_cores(std::size_t available, const GroupLimits& limits = group_limits());
/// Bytes of memory: those of the machine, or the smallest limit of its control groups.
std::uint64_t usable_memory(const GroupLimits& limits = group_limits());

}  // namespace zygos
