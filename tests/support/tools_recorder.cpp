// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/tools_recorder.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <mutex>
#include <regex>
#include <stdexcept>

namespace zygos::testing {
namespace {

namespace tools = Kokkos::Tools::Experimental;

// Kokkos takes plain function pointers without a context, so what they write to must be static.
struct Log {
  std::mutex mutex;
  bool recording = false;
  std::vector<Event> events;
  tools::EventSet before{};
};

Log& log() {
  static Log instance;
  return instance;
}

void record(EventKind kind, const char* label, std::uint32_t device_id, std::uint64_t bytes) {
  const std::scoped_lock lock(log().mutex);
  log().events.push_back({kind, label, device_id, bytes, std::this_thread::get_id()});
}

void on_kernel(const char* label, std::uint32_t device_id, std::uint64_t*) {
  record(EventKind::kernel, label, device_id, 0);
}

void on_fence(const char* label, std::uint32_t device_id, std::uint64_t*) {
  record(EventKind::fence, label, device_id, 0);
}

void on_allocation(Kokkos::Tools::SpaceHandle, const char* label, const void*,
                   std::uint64_t bytes) {
  record(EventKind::allocation, label, 0, bytes);
}

void on_deallocation(Kokkos::Tools::SpaceHandle, const char* label, const void*,
                     std::uint64_t bytes) {
  record(EventKind::deallocation, label, 0, bytes);
}

void on_deep_copy(Kokkos::Tools::SpaceHandle, const char* to, const void*,
                  Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
  record(EventKind::deep_copy, to, 0, bytes);
}

void on_region(const char* label) { record(EventKind::region, label, 0, 0); }

}  // namespace

bool Event::is_global_fence() const {
  return kind == EventKind::fence && tools::identifier_from_devid(device_id).instance_id == 0;
}

std::string Event::space() const {
  switch (tools::identifier_from_devid(device_id).type) {
    case tools::DeviceType::Serial:
      return "Serial";
    case tools::DeviceType::OpenMP:
      return "OpenMP";
    case tools::DeviceType::Cuda:
      return "Cuda";
    case tools::DeviceType::HIP:
      return "HIP";
    case tools::DeviceType::SYCL:
      return "SYCL";
    default:
      return "unknown";
  }
}

bool is_zygos_label(std::string_view label) {
  static const std::regex form("^zygos::[a-z_]+::.+");
  return std::regex_match(label.begin(), label.end(), form);
}

ToolsRecorder::ToolsRecorder() {
  if (log().recording) {
    throw std::logic_error("another ToolsRecorder is recording");
  }
  log().recording = true;
  log().before = tools::get_callbacks();
  clear();
  tools::set_begin_parallel_for_callback(on_kernel);
  tools::set_begin_parallel_reduce_callback(on_kernel);
  tools::set_begin_parallel_scan_callback(on_kernel);
  tools::set_begin_fence_callback(on_fence);
  tools::set_allocate_data_callback(on_allocation);
  tools::set_deallocate_data_callback(on_deallocation);
  tools::set_begin_deep_copy_callback(on_deep_copy);
  tools::set_push_region_callback(on_region);
}

ToolsRecorder::~ToolsRecorder() {
  tools::set_callbacks(log().before);
  log().recording = false;
}

std::vector<Event> ToolsRecorder::events() const {
  const std::scoped_lock lock(log().mutex);
  return log().events;
}

std::vector<Event> ToolsRecorder::events(EventKind kind) const {
  std::vector<Event> all = events();
  std::erase_if(all, [kind](const Event& event) { return event.kind != kind; });
  return all;
}

std::vector<Event> ToolsRecorder::foreign() const {
  std::vector<Event> all = events();
  std::erase_if(all, [](const Event& event) { return is_zygos_label(event.label); });
  return all;
}

void ToolsRecorder::clear() {
  const std::scoped_lock lock(log().mutex);
  log().events.clear();
}

}  // namespace zygos::testing
