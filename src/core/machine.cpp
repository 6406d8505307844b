// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/machine.hpp"

#include "core/core_set.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace zygos {

namespace fs = std::filesystem;

namespace {

/// The number at the beginning of a file; none for "max", -1, or a file that is not there.
std::optional<double> first_number(const fs::path& file) {
  std::ifstream in(file);
  double value = -1.0;
  return in >> value && value >= 0.0 ? std::optional(value) : std::nullopt;
}

void limit_memory(GroupLimits& limits, const std::optional<double>& bytes) {
  // Version 1 says "none" by a number beyond all memory.
  if (bytes && *bytes < 0x1p62) {
    limits.memory_bytes = std::min(limits.memory_bytes, static_cast<std::uint64_t>(*bytes));
  }
}

/// `quota` and `period`: processor time of the group in each stretch of time.
void limit_cores(GroupLimits& limits, const std::optional<double>& quota,
                 const std::optional<double>& period) {
  if (quota && period && *quota > 0.0 && *period > 0.0) {
    limits.cores = std::min(limits.cores, *quota / *period);
  }
}

void read_group(GroupLimits& limits, const fs::path& group) {
  limit_memory(limits, first_number(group / "memory.max"));
  limit_memory(limits, first_number(group / "memory.limit_in_bytes"));
  limit_cores(limits, first_number(group / "cpu.cfs_quota_us"),
              first_number(group / "cpu.cfs_period_us"));
  std::ifstream in(group / "cpu.max");
  double quota = -1.0;
  double period = -1.0;
  if (in >> quota >> period) {  // "max 100000" is no number
    limit_cores(limits, quota, period);
  }
}

/// The group of that path and all above it. In a container the path may be the host's: then only
/// the mount itself, which is the container's own group, is there.
void read_groups(GroupLimits& limits, const fs::path& mount, const fs::path& path) {
  fs::path group = mount;
  read_group(limits, group);
  for (const fs::path& part : path.relative_path()) {
    group /= part;
    read_group(limits, group);
  }
}

}  // namespace

GroupLimits group_limits(const fs::path& membership, const fs::path& mounts) {
  GroupLimits limits;
  std::ifstream in(membership);
  for (std::string line; std::getline(in, line);) {
    // "4:memory:/a/b", "3:cpu,cpuacct:/a", and "0::/a/b" of version 2.
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (controllers.empty()) {
      read_groups(limits, mounts, path);
      read_groups(limits, mounts / "unified", path);
      continue;
    }
    read_groups(limits, mounts / controllers, path);
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      read_groups(limits, mounts / name, path);
    }
  }
  return limits;
}

std::vector<int> usable_cores() {
  CoreSet cores;
  return cores.read() ? cores.numbers() : std::vector<int>{};
}

int granted_cores(std::size_t available, const GroupLimits& limits) {
  // A tenth of a core more or less is how quotas are rounded, not what was meant.
  const double cores = std::min(static_cast<double>(available), limits.cores + 0.1);
  return std::max(1, static_cast<int>(cores));
}

std::uint64_t usable_memory(const GroupLimits& limits) {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGE_SIZE);
  const std::uint64_t limit = limits.memory_bytes;
  return pages > 0 && page > 0
             ? std::min(limit, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page))
             : limit;
}

}  // namespace zygos
