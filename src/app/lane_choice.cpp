// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/lane_choice.hpp"

#include "zygos/lane/lane_set.hpp"

#include <sched.h>

#include <algorithm>

namespace zygos::app {

namespace {

void choose_kind(LaneRequest& request, const Machine& machine) {
  if (!request.any_device) {
    return;
  }
  request.spec.kind =
      machine.devices > request.spec.device_id ? lane::Kind::device : lane::Kind::emulated;
  if (request.spec.kind == lane::Kind::device) {
    // Link, memory and slow-down describe the emulation; a real device has its own.
    request.spec.link = {};
    request.spec.unified = false;
    request.spec.slowdown = 1.0;
  }
}

bool runs_openmp(const lane::LaneSpec& spec) {
  return spec.kind != lane::Kind::device && spec.space == lane::HostSpace::openmp;
}

/// Threads of the emulated lanes, which the host lane leaves to them.
int emulated_threads(const std::vector<LaneRequest>& requests) {
  int count = 0;
  for (const LaneRequest& request : requests) {
    if (request.spec.kind == lane::Kind::emulated) {
      count += runs_openmp(request.spec) ? request.threads.value_or(1) : 1;
    }
  }
  return count;
}

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

Machine this_machine() {
  const int cores = static_cast<int>(usable_cores().size());
  return {.cores = std::max(1, cores), .devices = lane::device_count()};
}

std::vector<lane::LaneSpec> resolve_lanes(std::vector<LaneRequest> requests,
                                          const Machine& machine) {
  for (LaneRequest& request : requests) {
    choose_kind(request, machine);
  }
  const int left_for_host = std::max(1, machine.cores - emulated_threads(requests));
  std::vector<lane::LaneSpec> specs;
  for (const LaneRequest& request : requests) {
    lane::LaneSpec spec = request.spec;
    const int usual = spec.kind == lane::Kind::host ? left_for_host : 1;
    spec.threads = runs_openmp(spec) ? request.threads.value_or(usual) : 1;
    specs.push_back(std::move(spec));
  }
  return specs;
}

}  // namespace zygos::app
