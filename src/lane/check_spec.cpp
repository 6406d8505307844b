// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "check_spec.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/lane_set.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>

namespace zygos::lane {
namespace {

bool at_least(double value, double bound) { return std::isfinite(value) && value >= bound; }

void check_threads(const LaneSpec& spec, const std::string& lane) {
  if (spec.kind == Kind::device || spec.space == HostSpace::serial) {
    return;
  }
  if (spec.threads < 1 || spec.threads > max_host_threads) {
    throw UsageError(lane + "threads = " + std::to_string(spec.threads) + ", allowed are 1 to " +
                     std::to_string(max_host_threads));
  }
}

void check_link(const LaneSpec& spec, const std::string& lane) {
  if (!at_least(spec.link.latency_s, 0.0) || !at_least(spec.link.bytes_per_second, 0.0)) {
    throw UsageError(lane + "a link needs a latency and a bandwidth that are finite and not " +
                     "negative (bandwidth 0: as fast as the memory)");
  }
  const bool modelled = spec.link.latency_s > 0.0 || spec.link.bytes_per_second > 0.0;
  if (modelled && spec.kind != Kind::emulated) {
    throw UsageError(lane + "kind '" + std::string(name_of(spec.kind)) +
                     "' has the link it has; only kind 'emulated' can be given one");
  }
  if (spec.unified && spec.kind != Kind::emulated) {
    throw UsageError(
        lane + "kind '" + std::string(name_of(spec.kind)) +
        "' has the memory it has; only kind 'emulated' can be told to have it unified");
  }
  if (spec.unified && modelled) {
    throw UsageError(lane +
                     "is unified and has a link; memory that the host shares is not copied: "
                     "leave one of them out");
  }
}

}  // namespace

void require_kokkos() {
  if (!Kokkos::is_initialized()) {
    throw UsageError(
        "lanes need an initialised Kokkos; call Kokkos::initialize (or make a "
        "Kokkos::ScopeGuard) in main() first");
  }
}

void check_spec(const LaneSpec& spec) {
  if (spec.name.empty()) {
    throw UsageError("a lane needs a name");
  }
  const std::string lane = "lane '" + spec.name + "': ";
  check_threads(spec, lane);
  check_link(spec, lane);
  if (spec.records && (spec.kind != Kind::emulated || spec.unified)) {
    throw UsageError(lane + "kind '" + std::string(name_of(spec.kind)) +
                     "' can't be told to record work; only kind 'emulated' can, unless it is " +
                     "unified: a device does so where it has graphs");
  }
  if (!at_least(spec.slowdown, 1.0)) {
    throw UsageError(lane + "slowdown = " + std::to_string(spec.slowdown) +
                     ", allowed is 1 (full speed) and more");
  }
}

}  // namespace zygos::lane
