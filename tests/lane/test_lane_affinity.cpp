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

#include <atomic>

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
