// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Run by ctest with OMP_PROC_BIND=spread and OMP_PLACES=threads, which bind the first thread of
// every team to the first core.
#include "host_kernel.hpp"

#include "zygos/lane/lane_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

namespace zygos::test_lane_affinity {
using namespace zygos::lane;

namespace {

/// 0 if the system does not say. No assertion here: Catch2's are for one thread only.
int cores_of_this_thread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

/// Fewest cores any thread of the lane's team may run on, seen from inside a kernel.
int fewest_cores(Lane& lane) {
  std::atomic<int> fewest{CPU_SETSIZE};
  lane.run_and_wait([&] {
    zygos::testing::host_kernel(lane.execution(), "zygos::test::cores", 1000, [&](int) {
      const int mine = cores_of_this_thread();
      int seen = fewest;
      while (mine < seen && !fewest.compare_exchange_weak(seen, mine)) {
      }
    });
  });
  return fewest;
}

/// Length of the calling thread's turns in nanoseconds; 0 if the system does not say.
std::uint64_t turn_of_this_thread() {
  // The kernel's sched_attr; the fourth word is the runtime.
  std::array<std::uint64_t, 6> attributes{};
  const long failed = syscall(SYS_sched_getattr, 0, attributes.data(), sizeof(attributes), 0U);
  return failed == 0 ? attributes[3] : 0;
}

}  // namespace

TEST_CASE("lanes may use every core of the process even if OpenMP binds its threads", "[lane]") {
  const int places = omp_get_num_places();
  LaneSet lanes({{.name = "host", .threads = 2}, {.name = "device", .kind = Kind::emulated}});

  for (int round = 0; round < 3; ++round) {
    for (std::size_t place = 0; place < lanes.size(); ++place) {
      CHECK(fewest_cores(lanes[place]) >= places);
    }
  }
}

TEST_CASE("a lane around the caller's instance is as free, and the caller stays bound", "[lane]") {
  LaneSet lanes;
  lanes.adopt({.name = "host"}, Execution(Kokkos::OpenMP(2)));
  const int before = cores_of_this_thread();

  CHECK(fewest_cores(lanes[0]) >= omp_get_num_places());
  CHECK(cores_of_this_thread() == before);
}

TEST_CASE("who follows a lane goes on where its job ended, and may run wherever it could",
          "[lane]") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(static_cast<std::size_t>(core), &before)) {
      continue;
    }
    LaneSet lanes({{.name = "bound", .kind = Kind::emulated, .threads = 2, .cores = {core}}});
    bool followed = false;
    // The system may move this thread on at once if others want the core.
    for (int attempt = 0; attempt < 1000 && !followed; ++attempt) {
      lanes[0].run_and_wait([] {});
      lanes[0].follow();
      followed = sched_getcpu() == core;
    }
    CHECK(followed);
    cpu_set_t after;
    REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
  }
}

TEST_CASE("a lane that is given cores computes on these only, whatever its space", "[lane]") {
  const int core = sched_getcpu();
  const LaneSpec spec{.name = "bound", .kind = Kind::emulated, .threads = 2, .cores = {core}};
  LaneSet lanes({spec, {.name = "free", .kind = Kind::emulated}});
  std::atomic<int> elsewhere{0};

  lanes[0].run_and_wait([&] {
    zygos::testing::host_kernel(lanes[0].execution(), "zygos::test::cores", 1000,
                                [&](int) { elsewhere += sched_getcpu() == core ? 0 : 1; });
  });

  CHECK(elsewhere == 0);
  CHECK(fewest_cores(lanes[0]) == 1);
  CHECK(fewest_cores(lanes[1]) >= omp_get_num_places());
}

TEST_CASE("cores that the process was not given change nothing", "[lane]") {
  LaneSet lanes({{.name = "a", .kind = Kind::emulated, .cores = {-1, 1 << 20}}});

  CHECK(fewest_cores(lanes[0]) >= omp_get_num_places());
}

TEST_CASE("threads that move messages have shorter turns than those that compute", "[lane]") {
  Lane lane({.name = "a", .kind = Kind::emulated});
  lane.open(Line::incoming);
  std::uint64_t computing = 0;
  std::uint64_t moving = 0;

  lane.run_and_wait([&] { computing = turn_of_this_thread(); });
  const std::function<void()> job = [&] { moving = turn_of_this_thread(); };
  lane.run(job, Line::incoming);
  lane.wait(Line::incoming);

  // Systems before Linux 6.12 have nothing to tell.
  CHECK((computing == 0 || moving < computing));
}

TEST_CASE("what comes in to a lane is moved on its cores, what goes out on any", "[lane]") {
  Lane lane({.name = "bound", .kind = Kind::emulated, .cores = {0}});
  const auto cores_of = [&](Line line) {
    int cores = 0;
    lane.open(line);
    const std::function<void()> job = [&] { cores = cores_of_this_thread(); };
    lane.run(job, line);
    lane.wait(line);
    return cores;
  };

  const int all = cores_of_this_thread();
  CHECK(cores_of(Line::incoming) == 1);
  CHECK(cores_of(Line::outgoing) == all);
}

}  // namespace zygos::test_lane_affinity
