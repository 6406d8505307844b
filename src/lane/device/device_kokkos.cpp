// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves Cuda, HIP and SYCL alike: only Kokkos' own API, and the device is the third alternative of
// Execution, whichever it is.
#include "lane/device/absent_space.hpp"
#include "lane/device/device.hpp"
#include "lane/device/device_probe.hpp"

#include "zygos/core/error.hpp"
#include "zygos/memory/bytes.hpp"

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace zygos::lane::device {
namespace {

using Device = std::variant_alternative_t<2, Spaces>;
using DeviceMemory = Device::memory_space;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

template <class Space>
using Bytes = Kokkos::View<unsigned char*, Kokkos::LayoutRight, Space>;
template <class Space>
using Window = Kokkos::View<unsigned char*, Kokkos::LayoutRight, Space, Unmanaged>;
template <class Space>
using ConstWindow = Kokkos::View<const unsigned char*, Kokkos::LayoutRight, Space, Unmanaged>;

/// The block keeps the View, and with it Kokkos' own bookkeeping, alive.
template <class Space>
memory::Block block_of(Bytes<Space> view) {
  auto owner = std::make_shared<Bytes<Space>>(std::move(view));
  return {owner, reinterpret_cast<std::byte*>(owner->data())};
}

[[noreturn]] void out_of_memory(std::size_t bytes, const std::string& label, const char* where,
                                const std::exception& cause) {
  throw MemoryError("can't allocate " + memory::text_of_bytes(bytes) + " (" +
                    std::to_string(bytes) + " bytes) of " + where + " memory for '" + label +
                    "'; use a smaller batch or model, or another lane (" + cause.what() + ")");
}

/// Ordered on the instance's stream.
template <class To, class From>
void copy(const Execution& execution, void* to, const void* from, std::size_t bytes,
          const std::string& label) {
  if (bytes == 0) {
    return;  // Kokkos would fence for an empty View
  }
  // Borrowed Views have no label of their own for a profiler to show.
  const Kokkos::Profiling::ScopedRegion region(label);
  Kokkos::deep_copy(std::get<Device>(execution), Window<To>(static_cast<unsigned char*>(to), bytes),
                    ConstWindow<From>(static_cast<const unsigned char*>(from), bytes));
}

}  // namespace

int count() { return probe().count; }

std::string absence() { return probe().error; }

void leave_uninitialised() { leave_space_uninitialised(Device::name()); }

std::string_view space_name() { return Device::name(); }

Execution make(const LaneSpec& spec) {
  if (spec.device_id != Kokkos::device_id()) {
    throw UsageError("lane '" + spec.name + "' asks for device " + std::to_string(spec.device_id) +
                     ", but Kokkos was initialised with device " +
                     std::to_string(Kokkos::device_id()) + " of " + std::to_string(count()) +
                     "; start with --kokkos-device-id=" + std::to_string(spec.device_id));
  }
  // A stream of its own, destroyed with the last copy of the instance.
  return Execution(Kokkos::Experimental::partition_space(Device{}, 1)[0]);
}

bool is_device(const Execution& execution) noexcept {
  return std::holds_alternative<Device>(execution);
}

memory::Block allocate(const Execution& execution, std::size_t bytes, const std::string& label) {
  try {
    return block_of(Bytes<DeviceMemory>(
        Kokkos::view_alloc(std::get<Device>(execution), Kokkos::WithoutInitializing, label),
        bytes));
  } catch (const std::exception& error) {
    out_of_memory(bytes, label, "device", error);
  }
}

memory::Block allocate_staging(std::size_t bytes, const std::string& label) {
  try {
    return block_of(Bytes<Kokkos::SharedHostPinnedSpace>(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, label), bytes));
  } catch (const std::exception& error) {
    out_of_memory(bytes, label, "pinned host", error);
  }
}

void copy_to_lane(const Execution& execution, void* lane, const void* host, std::size_t bytes,
                  const std::string& label) {
  copy<DeviceMemory, Kokkos::HostSpace>(execution, lane, host, bytes, label);
}

void copy_to_host(const Execution& execution, void* host, const void* lane, std::size_t bytes,
                  const std::string& label) {
  copy<Kokkos::HostSpace, DeviceMemory>(execution, host, lane, bytes, label);
}

void copy_on_lane(const Execution& execution, void* to, const void* from, std::size_t bytes,
                  const std::string& label) {
  copy<DeviceMemory, DeviceMemory>(execution, to, from, bytes, label);
}

}  // namespace zygos::lane::device
