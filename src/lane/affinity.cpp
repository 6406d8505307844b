// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "affinity.hpp"

#include "core/core_set.hpp"

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
  CoreSet set;
  for (const int core : cores) {
    set.add(core);
  }
  if (set.empty()) {
    return;
  }
  // The runtime binds a team's threads when it makes them and keeps them for the next region of the
  // same size, which is every region of the lane. A refusal leaves the threads where they were:
  // slow, not wrong.
#pragma omp parallel num_threads(threads)
  { static_cast<void>(set.apply()); }
}

int this_core() noexcept { return sched_getcpu(); }

void go_to_core(int core) noexcept {
  CoreSet allowed;
  if (core == this_core() || !allowed.read() || !allowed.contains(core)) {
    return;
  }
  CoreSet one;
  one.add(core);
  if (one.apply()) {
    static_cast<void>(allowed.apply());
  }
}

}  // namespace zygos::lane
