// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a device lane needs from a GPU. Two sources define it, of which CMake picks one:
// device_kokkos.cpp for a build with Cuda, HIP or SYCL, device_none.cpp for one without.
#pragma once

#include "zygos/lane/lane.hpp"
#include "zygos/lane/recording.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/lane/stream_clock.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zygos::lane::device {

/// Asks the device's own runtime: Kokkos' count aborts where there is none.
int count();
/// What that runtime says where it finds no device.
std::string absence();
/// Makes Kokkos::initialize pass over the device.
void leave_uninitialised();
std::string_view space_name();
/// An instance with a stream of its own. Throws UsageError if this build or machine has none.
Execution make(const LaneSpec& spec);
bool is_device(const Execution& execution) noexcept;
/// Of the instance's stream; null where the device's runtime has none that this build knows.
std::unique_ptr<StreamClock> stream_clock(const Execution& execution);
/// Whether the device's runtime has graphs that this build knows.
bool can_record();
/// See Lane::record().
std::unique_ptr<Recording> record(const Execution& execution, const std::function<void()>& work);

memory::Block allocate(const Execution& execution, std::size_t bytes, const std::string& label);
/// Pinned host memory, which the device's copy engines read without a detour.
memory::Block allocate_staging(std::size_t bytes, const std::string& label);
/// Ordered on the instance's stream.
void copy_to_lane(const Execution& execution, void* lane, const void* host, std::size_t bytes,
                  const std::string& label);
void copy_to_host(const Execution& execution, void* host, const void* lane, std::size_t bytes,
                  const std::string& label);

void copy_on_lane(const Execution& execution, void* to, const void* from, std::size_t bytes,
                  const std::string& label);

}  // namespace zygos::lane::device
