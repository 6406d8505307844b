// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/instance.hpp"

#include "infer/shared_block.hpp"
#include "lane/device/device.hpp"
#include "lane/host_memory.hpp"

#include "zygos/core/error.hpp"

#include <cstring>
#include <vector>

namespace zygos::insitu {

void Instance::enter(const lane::Execution& next, const char* what) {
  if (static_cast<const lane::Spaces&>(execution_) == next) {
    return;
  }
  if (lane::device::is_device(next) != on_device()) {
    throw UsageError(std::string(what) + " lies in " + (on_device() ? "device" : "host") +
                     " memory and was given an instance of a " + (on_device() ? "host" : "device") +
                     " space; use one of the kind that it was made with");
  }
  wait("zygos::insitu::leave_instance");
  execution_ = next;
}

bool Instance::on_device() const noexcept { return lane::device::is_device(execution_); }

void Instance::wait(const char* label) const {
  if (on_device()) {
    infer::wait_for(execution_, label);
  }
}

memory::Block Instance::allocate(std::size_t bytes, const std::string& label) const {
  memory::Block block = infer::allocate_on(execution_, bytes, label);
  if (on_device()) {
    const std::vector<std::byte> zeros(bytes);
    copy_in(block.get(), zeros.data(), bytes, label);
  } else {
    std::memset(block.get(), 0, bytes);
  }
  return block;
}

memory::Block Instance::allocate_shared(std::size_t bytes, const std::string& label) const {
  memory::Block block = on_device() ? lane::device::allocate_staging(bytes, label)
                                    : lane::allocate_host(bytes, label);
  std::memset(block.get(), 0, bytes);
  return block;
}

void Instance::copy_in(void* to, const void* from, std::size_t bytes,
                       const std::string& label) const {
  if (on_device()) {
    lane::device::copy_to_lane(execution_, to, from, bytes, label);
    wait(label.c_str());
  } else {
    lane::copy_host(to, from, bytes, label);
  }
}

void Instance::copy_out(void* to, const void* from, std::size_t bytes,
                        const std::string& label) const {
  if (on_device()) {
    lane::device::copy_to_host(execution_, to, from, bytes, label);
    wait(label.c_str());
  } else {
    lane::copy_host(to, from, bytes, label);
  }
}

}  // namespace zygos::insitu
