// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/lane_bytes.hpp"

#include "lane/device/device.hpp"
#include "lane/host_memory.hpp"

#include <string>
#include <variant>

namespace zygos::testing {
namespace {

const std::string label = "zygos::testing::buffer";

void await(const lane::Execution& execution) {
  std::visit([](const auto& space) { space.fence(label); },
             static_cast<const lane::Spaces&>(execution));
}

}  // namespace

LaneBytes::LaneBytes(const lane::Execution& execution, std::size_t bytes)
    : execution_(execution),
      block_(lane::device::is_device(execution) ? lane::device::allocate(execution, bytes, label)
                                                : lane::allocate_host(bytes, label)) {}

void LaneBytes::copy_from(std::span<const std::byte> host) const {
  if (lane::device::is_device(execution_)) {
    lane::device::copy_to_lane(execution_, data(), host.data(), host.size(), label);
  } else {
    lane::copy_host(data(), host.data(), host.size(), label);
  }
  await(execution_);
}

void LaneBytes::copy_to(std::span<std::byte> host) const {
  await(execution_);
  if (lane::device::is_device(execution_)) {
    lane::device::copy_to_host(execution_, host.data(), data(), host.size(), label);
    await(execution_);
  } else {
    lane::copy_host(host.data(), data(), host.size(), label);
  }
}

}  // namespace zygos::testing
