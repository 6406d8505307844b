// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/schedule/task.hpp"

#include <cstddef>
#include <vector>

namespace zygos::train {

/// Where the messages of a schedule lie in host memory, by their numbers. Whoever made the message
/// a task writes or reads finds it here, no matter which place or process the other end is.
class MessageBoard {
 public:
  void set(const schedule::Buffer& message, std::byte* memory) {
    const auto number = static_cast<std::size_t>(message.part);
    if (memory_.size() <= number) {
      memory_.resize(number + 1, nullptr);
    }
    memory_[number] = memory;
  }

  std::byte* at(const schedule::Buffer& message) const {
    return memory_[static_cast<std::size_t>(message.part)];
  }

  /// The message among the buffers of a task that has one.
  static const schedule::Buffer& in(const std::vector<schedule::Buffer>& buffers) {
    for (const schedule::Buffer& buffer : buffers) {
      if (buffer.kind == schedule::BufferKind::message) {
        return buffer;
      }
    }
    throw InternalError("a task that sends or receives has no message");
  }

 private:
  std::vector<std::byte*> memory_;
};

}  // namespace zygos::train
