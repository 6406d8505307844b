// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zygos::testing {

enum class EventKind { kernel, fence, allocation, deallocation, deep_copy, region };

/// What Kokkos told its tools, in the order it happened.
struct Event {
  EventKind kind = EventKind::kernel;
  std::string label;
  std::uint32_t device_id = 0;  ///< kernels and fences: Kokkos' packed space, device and instance
  std::uint64_t bytes = 0;      ///< allocations, deallocations and copies
  /// Host instances all carry the same id; a lane is told from another by its driver thread.
  std::thread::id thread;

  /// True for a fence of every instance of a space, which would stop other lanes too.
  bool is_global_fence() const;
  /// "OpenMP", "Serial", "Cuda", ...: the space of a kernel or fence.
  std::string space() const;
};

/// True if `label` has the form zygos::module::thing.
bool is_zygos_label(std::string_view label);

/// Records all events of the process while it lives. Only one may live at a time, because Kokkos'
/// callbacks are plain functions. Put it where no lane is working, in a test that has
/// kokkos_session.cpp among its sources, which keeps Kokkos from fencing for the tool's sake.
class ToolsRecorder {
 public:
  ToolsRecorder();
  ~ToolsRecorder();
  ToolsRecorder(const ToolsRecorder&) = delete;
  ToolsRecorder& operator=(const ToolsRecorder&) = delete;

  std::vector<Event> events() const;
  std::vector<Event> events(EventKind kind) const;
  /// Kernels, fences, allocations, copies and regions whose label is not ours.
  std::vector<Event> foreign() const;
  void clear();
};

}  // namespace zygos::testing
