// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/shared_block.hpp"

#include "lane/device/device.hpp"
#include "lane/host_memory.hpp"

#include "zygos/lane/dispatch.hpp"

#include <algorithm>
#include <utility>

namespace zygos::infer {

memory::Block allocate_on(const lane::Execution& execution, std::size_t bytes,
                          const std::string& label) {
  const std::size_t some = std::max<std::size_t>(bytes, 1);
  return lane::device::is_device(execution) ? lane::device::allocate(execution, some, label)
                                            : lane::allocate_host(some, label);
}

void wait_for(const lane::Execution& execution, const std::string& label) {
  lane::dispatch(execution, [&](const auto& exec) { exec.fence(label); });
}

SharedBlock::SharedBlock(std::size_t bytes, std::string label)
    : bytes_(bytes),
      label_(std::move(label)),
      host_(lane::allocate_host(std::max<std::size_t>(bytes, 1), label_)) {}

std::byte* SharedBlock::readable_on(const lane::Execution& execution) {
  if (!lane::device::is_device(execution)) {
    return host_.get();
  }
  const std::lock_guard lock(mutex_);
  if (device_ == nullptr) {
    memory::Block copy = allocate_on(execution, bytes_, label_);
    lane::device::copy_to_lane(execution, copy.get(), host_.get(), bytes_, label_);
    wait_for(execution, label_);  // instances of other threads read it, too
    device_ = std::move(copy);
  }
  return device_.get();
}

}  // namespace zygos::infer
