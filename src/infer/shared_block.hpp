// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/spaces.hpp"
#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace zygos::infer {

/// Memory of one kind that several models read: written in host memory before anybody else has it,
/// and copied to the device when an instance there first asks.
class SharedBlock {
 public:
  /// Throws MemoryError.
  SharedBlock(std::size_t bytes, std::string label);

  std::size_t bytes() const noexcept { return bytes_; }
  std::byte* host() const noexcept { return host_.get(); }
  /// Where kernels on such an instance read it. Any thread may ask. Throws MemoryError.
  std::byte* readable_on(const lane::Execution& execution);

 private:
  std::size_t bytes_;
  std::string label_;
  memory::Block host_;
  std::mutex mutex_;
  memory::Block device_;
};

/// Memory that kernels on such an instance can use. Throws MemoryError.
memory::Block allocate_on(const lane::Execution& execution, std::size_t bytes,
                          const std::string& label);

/// Returns when the instance has done all its work.
void wait_for(const lane::Execution& execution, const std::string& label);

}  // namespace zygos::infer
