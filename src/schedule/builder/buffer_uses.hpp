// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/task.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::schedule {

/// No task.
inline constexpr TaskId nobody = -1;

/// Numbers the buffers of a list of tasks, so that what is known of a buffer lies in a vector.
class BufferUses {
 public:
  explicit BufferUses(const std::vector<Task>& tasks);

  std::size_t count() const noexcept { return buffers_.size(); }
  const Buffer& buffer(std::uint32_t number) const { return buffers_[number]; }
  /// Numbers of what a task reads (and writes), in the task's order.
  std::span<const std::uint32_t> reads(std::size_t task) const {
    return {numbers_.data() + first_[2 * task], numbers_.data() + first_[2 * task + 1]};
  }
  std::span<const std::uint32_t> writes(std::size_t task) const {
    return {numbers_.data() + first_[2 * task + 1], numbers_.data() + first_[2 * task + 2]};
  }

 private:
  std::uint32_t number_of(const Buffer& buffer);
  void grow();

  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> table_;  ///< open addressing; buffer number + 1, or 0
  std::vector<std::uint32_t> numbers_;
  std::vector<std::size_t> first_;
};

}  // namespace zygos::schedule
