// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/lane_choice.hpp"

#include "zygos/lane/lane_set.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

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

int team_size(const lane::LaneSpec& spec) {
  return spec.kind == lane::Kind::device ? 0 : spec.threads;
}

void divide_cores(std::vector<lane::LaneSpec>& specs, const std::vector<int>& numbers) {
  std::size_t threads = 0;
  for (const lane::LaneSpec& spec : specs) {
    threads += static_cast<std::size_t>(team_size(spec));
  }
  if (specs.size() < 2 || threads != numbers.size()) {
    return;
  }
  auto next = numbers.begin();
  for (lane::LaneSpec& spec : specs) {
    spec.cores.assign(next, next + team_size(spec));
    next += team_size(spec);
  }
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
  auto numbers = usable_cores();
  const int cores = static_cast<int>(numbers.size());
  // The usual way to tell OpenMP programs that others use the cores as well.
  const char* bind = std::getenv("OMP_PROC_BIND");
  if (bind != nullptr && std::string_view(bind) == "false") {
    numbers.clear();
  }
  return {.cores = std::max(1, cores),
          .devices = lane::device_count(),
          .core_numbers = std::move(numbers)};
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
  divide_cores(specs, machine.core_numbers);
  return specs;
}

}  // namespace zygos::app
