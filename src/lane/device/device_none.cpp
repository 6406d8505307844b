// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/device.hpp"

#include "zygos/core/error.hpp"

namespace zygos::lane::device {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw UsageError(what +
                   ": this is a build without device support; use kind 'emulated', or configure " +
                   "with ZYGOS_DEVICE=cuda, hip or sycl and a Kokkos that has it");
}

}  // namespace

int count() { return 0; }

std::string absence() { return "this is a build without device support"; }

void leave_uninitialised() {}

std::string_view space_name() { return "none"; }

Execution make(const LaneSpec& spec) { refuse("lane '" + spec.name + "' has kind 'device'"); }

bool is_device(const Execution&) noexcept { return false; }

memory::Block allocate(const Execution&, std::size_t, const std::string& label) {
  refuse("device memory for '" + label + "'");
}

memory::Block allocate_staging(std::size_t, const std::string& label) {
  refuse("pinned memory for '" + label + "'");
}

void copy_to_lane(const Execution&, void*, const void*, std::size_t, const std::string& label) {
  refuse("copy '" + label + "'");
}

void copy_to_host(const Execution&, void*, const void*, std::size_t, const std::string& label) {
  refuse("copy '" + label + "'");
}

void copy_on_lane(const Execution&, void*, const void*, std::size_t, const std::string& label) {
  refuse("copy '" + label + "'");
}

}  // namespace zygos::lane::device
