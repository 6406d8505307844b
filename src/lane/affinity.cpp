// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "affinity.hpp"

#include <omp.h>
#include <sched.h>

#include <vector>

namespace zygos::lane {
namespace {

/// The process' own mask is no help: the runtime has already narrowed the initial thread's.
std::vector<int> cores_of_all_places() {
  std::vector<int> cores;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    cores.insert(cores.end(), ids.begin(), ids.end());
  }
  return cores;
}

}  // namespace

void unbind_team(int threads) {
  if (omp_get_proc_bind() != omp_proc_bind_false) {
    bind_team(threads, cores_of_all_places());
  }
}

void bind_team(int threads, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core >= 0 && core < CPU_SETSIZE) {
      CPU_SET(static_cast<std::size_t>(core), &set);
    }
  }
  if (CPU_COUNT(&set) == 0) {
    return;
  }
  // The runtime binds a team's threads when it makes them and keeps them for the next region of the
  // same size, which is every region of the lane. A refusal leaves the threads where they were:
  // slow, not wrong.
#pragma omp parallel num_threads(threads)
  { static_cast<void>(sched_setaffinity(0, sizeof(set), &set)); }
}

int this_core() noexcept { return sched_getcpu(); }

void go_to_core(int core) noexcept {
  cpu_set_t allowed;
  if (core < 0 || core >= CPU_SETSIZE || core == this_core() ||
      sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
      !CPU_ISSET(static_cast<std::size_t>(core), &allowed)) {
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  if (sched_setaffinity(0, sizeof(one), &one) == 0) {
    static_cast<void>(sched_setaffinity(0, sizeof(allowed), &allowed));
  }
}

}  // namespace zygos::lane
