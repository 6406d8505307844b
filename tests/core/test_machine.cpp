// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "core/core_set.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/machine.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <fstream>
#include <string>

namespace zygos::test_machine {

namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("the smallest limit of a group of version 2 and those above it counts", "[core]") {
  const test::TemporaryFolder folder("groups-2");
  const fs::path mounts = folder.path() / "cgroup";
  write(folder.path() / "self", "0::/slice/job/step\n");
  write(mounts / "slice/memory.max", "8000000000\n");
  write(mounts / "slice/job/memory.max", "2000000000\n");
  write(mounts / "slice/job/step/memory.max", "max\n");
  write(mounts / "slice/cpu.max", "max 100000\n");
  write(mounts / "slice/job/cpu.max", "250000 100000\n");

  const GroupLimits limits = group_limits(folder.path() / "self", mounts);

  CHECK(limits.memory_bytes == 2000000000U);
  CHECK(limits.cores == 2.5);
}

TEST_CASE("groups of version 1 are found by their controllers", "[core]") {
  const test::TemporaryFolder folder("groups-1");
  const fs::path mounts = folder.path() / "cgroup";
  write(folder.path() / "self", "7:memory:/job\n3:cpu,cpuacct:/job\n2:cpuset:/\n");
  write(mounts / "memory/memory.limit_in_bytes", "9223372036854771712\n");
  write(mounts / "memory/job/memory.limit_in_bytes", "1073741824\n");
  write(mounts / "cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
  write(mounts / "cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
  write(mounts / "cpu/cpu.cfs_quota_us", "-1\n");

  const GroupLimits limits = group_limits(folder.path() / "self", mounts);

  CHECK(limits.memory_bytes == std::uint64_t{1} << 30);
  CHECK(limits.cores == 3.0);
}

TEST_CASE("in a container whose path is the host's the mount itself is the group", "[core]") {
  const test::TemporaryFolder folder("groups-container");
  const fs::path mounts = folder.path() / "cgroup";
  write(folder.path() / "self", "4:memory:/docker/0123\n0::/docker/0123\n");
  write(mounts / "memory/memory.limit_in_bytes", "500000000\n");

  CHECK(group_limits(folder.path() / "self", mounts).memory_bytes == 500000000U);
}

TEST_CASE("what is not there or says nothing limits nothing", "[core]") {
  const test::TemporaryFolder folder("groups-none");
  write(folder.path() / "self", "nonsense\n0::/\n1:memory:/\n");
  write(folder.path() / "cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");

  for (const char* file : {"self", "missing"}) {
    const GroupLimits limits = group_limits(folder.path() / file, folder.path() / "cgroup");
    CHECK(limits.memory_bytes == GroupLimits().memory_bytes);
    CHECK(std::isinf(limits.cores));
  }
}

TEST_CASE("a quota of processor time gives whole cores, at least one", "[core]") {
  const auto granted = [](double quota) { return granted_cores(8, {.cores = quota}); };
  CHECK(granted(GroupLimits().cores) == 8);
  CHECK(granted(16.0) == 8);
  CHECK(granted(2.5) == 2);
  CHECK(granted(2.95) == 3);  // rounded by who wrote it
  CHECK(granted(0.5) == 1);
}

TEST_CASE("memory is the machine's, or less where a group has a limit", "[core]") {
  const std::uint64_t all = usable_memory(GroupLimits());
  REQUIRE(all > 1000000);
  CHECK(all < GroupLimits().memory_bytes);
  CHECK(usable_memory({.memory_bytes = 1000000}) == 1000000);
  CHECK(usable_memory({.memory_bytes = 2 * all}) == all);
}

TEST_CASE("this process may use a core and some memory", "[core]") {
  CHECK(!usable_cores().empty());
  CHECK(granted_cores(0) == 1);
  CHECK(granted_cores(usable_cores().size()) <= std::ssize(usable_cores()));
  CHECK(usable_memory() > 0);
}

TEST_CASE("a set of cores holds numbers beyond a cpu_set_t", "[core]") {
  CoreSet cores;
  for (const int core : {-1, 0, 1023, 1024, 8191, CoreSet::most}) {
    cores.add(core);
  }

  CHECK(cores.numbers() == std::vector<int>{0, 1023, 1024, 8191});
  CHECK_FALSE(cores.contains(CoreSet::most));
}

}  // namespace zygos::test_machine
