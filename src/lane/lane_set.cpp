// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/lane_set.hpp"

#include "check_spec.hpp"
#include "lane/device/device.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/machine.hpp"
#include "zygos/lane/await_change.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace zygos::lane {

LaneSet::LaneSet(std::vector<LaneSpec> specs) {
  if (specs.empty()) {
    throw UsageError("a run needs at least one lane, got none");
  }
  for (LaneSpec& spec : specs) {
    add(std::move(spec));
  }
}

void LaneSet::add(LaneSpec spec) {
  check(spec);
  lanes_.push_back(std::make_unique<Lane>(std::move(spec)));
}

void LaneSet::adopt(LaneSpec spec, Execution execution) {
  check(spec);
  lanes_.push_back(std::make_unique<Lane>(std::move(spec), std::move(execution)));
}

void LaneSet::add_remote(LaneSpec spec) {
  check(spec);
  lanes_.push_back(Lane::remote(std::move(spec)));
}

std::size_t LaneSet::index_of(std::string_view name) const {
  std::string known;
  for (std::size_t place = 0; place < lanes_.size(); ++place) {
    if (lanes_[place]->name() == name) {
      return place;
    }
    known += (known.empty() ? "'" : ", '") + lanes_[place]->name() + "'";
  }
  throw UsageError("no lane is called '" + std::string(name) + "'; there " +
                   (known.empty() ? "are none" : "is " + known));
}

int LaneSet::threads() const {
  int threads = 0;
  for (const auto& lane : lanes_) {
    const int own = lane->spec().kind == Kind::device ? 1 : lane->spec().threads;
    threads += lane->is_remote() ? 0 : own;
  }
  return threads;
}

bool LaneSet::one_driver(std::size_t place, int cores) const {
  const Lane& lane = *lanes_[place];
  return !lane.is_remote() && lane.spec().kind != Kind::device && threads() >= cores;
}

bool LaneSet::cores_of_their_own(int cores) const {
  for (std::size_t place = 0; place < size(); ++place) {
    if (!one_driver(place, cores)) {
      return false;
    }
  }
  return threads() <= cores;
}

std::chrono::microseconds LaneSet::spin_timeout(int cores) const {
  return cores_of_their_own(cores) ? own_core_spin_timeout : computing_spin_timeout;
}

void LaneSet::check(const LaneSpec& spec) const {
  for (const auto& lane : lanes_) {
    if (lane->name() == spec.name) {
      throw UsageError("two lanes are called '" + spec.name + "'; names must differ");
    }
    if (lane->spec().kind == Kind::host && spec.kind == Kind::host) {
      throw UsageError("lanes '" + lane->name() + "' and '" + spec.name +
                       "' are both of kind 'host'; make the second 'emulated', or give the first " +
                       "one all the threads");
    }
    if (lane->spec().kind == Kind::device && spec.kind == Kind::device &&
        lane->spec().device_id == spec.device_id) {
      throw UsageError(
          "lanes '" + lane->name() + "' and '" + spec.name + "' are both on device " +
          std::to_string(spec.device_id) +
          ", whose libraries have one handle a process; give them one lane, or each a " +
          "device of its own");
    }
  }
}

int process_cores() { return granted_cores(static_cast<std::size_t>(omp_get_num_procs())); }

int device_count() { return device::count(); }

std::string device_absence() { return device::absence(); }

void allow_absent_device() {
  if (device::count() == 0) {
    device::leave_uninitialised();
  }
}

std::string_view device_space_name() { return device::space_name(); }

}  // namespace zygos::lane
