// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/lane_choice.hpp"

#include "zygos/lane/lane_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace zygos::app {

namespace {

/// `used`: devices that lanes before this one have: no two lanes share one.
void choose_kind(LaneRequest& request, const Machine& machine, std::set<int>& used) {
  lane::LaneSpec& spec = request.spec;
  if (request.any_device) {
    const bool is_free = machine.devices > spec.device_id && !used.contains(spec.device_id);
    spec.kind = is_free ? lane::Kind::device : lane::Kind::emulated;
    if (is_free) {
      // Link, memory and slow-down describe the emulation; a real device has its own.
      spec.link = {};
      spec.unified = false;
      spec.slowdown = 1.0;
    }
  }
  if (spec.kind == lane::Kind::device) {
    used.insert(spec.device_id);
  }
}

bool runs_openmp(const lane::LaneSpec& spec) {
  return spec.kind != lane::Kind::device && spec.space == lane::HostSpace::openmp;
}

/// Threads of the other lanes, which the host lane leaves cores to: those of emulated lanes, and
/// the one that launches a device's kernels, which would wait for a core while the host computes.
int other_threads(const std::vector<LaneRequest>& requests) {
  int count = 0;
  for (const LaneRequest& request : requests) {
    if (request.spec.kind != lane::Kind::host) {
      count += runs_openmp(request.spec) ? request.threads.value_or(1) : 1;
    }
  }
  return count;
}

void divide_cores(std::vector<lane::LaneSpec>& specs, const std::vector<int>& numbers) {
  std::size_t threads = 0;
  for (const lane::LaneSpec& spec : specs) {
    threads +=
        static_cast<std::size_t>(spec.threads);  // a device's is the one that launches kernels
  }
  if (specs.size() < 2 || threads != numbers.size()) {
    return;
  }
  auto next = numbers.begin();
  for (lane::LaneSpec& spec : specs) {
    spec.cores.assign(next, next + spec.threads);
    next += spec.threads;
  }
}

}  // namespace

Machine this_machine(const GroupLimits& limits) {
  auto numbers = usable_cores();
  const int cores = granted_cores(numbers.size(), limits);
  // The usual way to tell OpenMP programs that others use the cores as well.
  const char* bind = std::getenv("OMP_PROC_BIND");
  if (bind != nullptr && std::string_view(bind) == "false") {
    numbers.clear();
  }
  return {.cores = cores, .devices = lane::device_count(), .core_numbers = std::move(numbers)};
}

std::vector<lane::LaneSpec> resolve_lanes(std::vector<LaneRequest> requests,
                                          const Machine& machine) {
  std::set<int> used;
  for (LaneRequest& request : requests) {
    choose_kind(request, machine, used);
  }
  const int left_for_host = std::max(1, machine.cores - other_threads(requests));
  std::vector<lane::LaneSpec> specs;
  for (const LaneRequest& request : requests) {
    lane::LaneSpec spec = request.spec;
    const int usual = spec.kind == lane::Kind::host ? left_for_host : 1;
    spec.threads = runs_openmp(spec) ? request.threads.value_or(usual) : 1;
    specs.push_back(std::move(spec));
  }
  divide_cores(specs, machine.core_numbers);
  const bool has_device =
      std::ranges::find(specs, lane::Kind::device, &lane::LaneSpec::kind) != specs.end();
  for (lane::LaneSpec& spec : specs) {
    spec.pinned = has_device && spec.kind != lane::Kind::device;
  }
  return specs;
}

}  // namespace zygos::app
