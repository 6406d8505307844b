// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace zygos::lane {

/// The lanes of a run in the order of the deck; the index of a lane in the set is the `place` that
/// schedules speak of. Lane 0 holds the state that checkpoints are written from.
class LaneSet {
 public:
  LaneSet() = default;
  /// Throws UsageError for an empty list, a repeated name, or more than one host lane.
  explicit LaneSet(std::vector<LaneSpec> specs);

  /// Throws UsageError for a repeated name or a second host lane.
  void add(LaneSpec spec);
  /// Adds a lane around an instance the caller owns.
  void adopt(LaneSpec spec, Execution execution);

  /// Adds a lane of another process, so that places have the same numbers in all of them.
  void add_remote(LaneSpec spec);

  std::size_t size() const noexcept { return lanes_.size(); }
  Lane& operator[](std::size_t place) { return *lanes_[place]; }
  const Lane& operator[](std::size_t place) const { return *lanes_[place]; }
  /// Cores that the lanes of this process compute on if there are enough: one for a device, which a
  /// thread waits for.
  int threads() const;
  /// True if a lane's driver thread moves its messages, too, between its kernels: a host or
  /// emulated lane, where the lanes of this process compute on all of its `cores`, so that threads
  /// for messages would only take these away. Else every line has a thread. Plain function of the
  /// specs.
  bool one_driver(std::size_t place, int cores) const;
  /// True if every lane has one driver and there is a core for each of their threads. Devices and
  /// lanes of other processes have threads that move messages, which need cores, too.
  bool cores_of_their_own(int cores) const;
  /// How long threads that compute spin while they wait for what other lanes compute:
  /// own_core_spin_timeout or computing_spin_timeout.
  std::chrono::microseconds spin_timeout(int cores) const;
  /// Throws UsageError that lists the names there are.
  std::size_t index_of(std::string_view name) const;

 private:
  void check(const LaneSpec& spec) const;

  std::vector<std::unique_ptr<Lane>> lanes_;
};

/// Cores that this process may use.
int process_cores();
/// Number of GPUs this build can use on this machine; 0 without device support.
int device_count();
/// Why a build with device support finds no device, in the words of the device's runtime; empty
/// where there is one.
std::string device_absence();
/// To be called before Kokkos::initialize: on a machine without a device, Kokkos is then
/// initialised with its host spaces alone, where a build with a device back end would otherwise
/// abort. Does nothing where there is a device.
void allow_absent_device();
/// Name of the device execution space of this build ("Cuda", "HIP", "SYCL") or "none".
std::string_view device_space_name();
/// Most threads of a host or emulated lane: the fixed size of the tables in Kokkos' OpenMP space.
/// It depends neither on the cores nor on what Kokkos was initialised with, because a lane's
/// instance has threads of its own.
inline constexpr int max_host_threads = 512;

}  // namespace zygos::lane
