// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/builder/buffer_uses.hpp"

namespace zygos::schedule {
namespace {

std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 32U;
  value *= 0xd6e8feb86659fd93ULL;
  return value ^ (value >> 32U);
}

std::uint64_t hash_of(const Buffer& buffer) {
  const auto bits = [](std::int32_t number) {
    return std::uint64_t{static_cast<std::uint32_t>(number)};
  };
  const std::uint64_t where = (bits(buffer.place) << 32U) | bits(buffer.micro_batch);
  const std::uint64_t what = (bits(buffer.part) << 32U) | (bits(buffer.slot) << 8U) |
                             static_cast<std::uint64_t>(buffer.kind);
  return mixed(mixed(where) + what);
}

}  // namespace

BufferUses::BufferUses(const std::vector<Task>& tasks) : table_(1024, 0) {
  first_.reserve(2 * tasks.size() + 1);
  for (const Task& task : tasks) {
    first_.push_back(numbers_.size());
    for (const Buffer& buffer : task.reads) {
      numbers_.push_back(number_of(buffer));
    }
    first_.push_back(numbers_.size());
    for (const Buffer& buffer : task.writes) {
      numbers_.push_back(number_of(buffer));
    }
  }
  first_.push_back(numbers_.size());
}

std::uint32_t BufferUses::number_of(const Buffer& buffer) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(buffer) & mask;
  while (table_[at] != 0 && buffers_[table_[at] - 1] != buffer) {
    at = (at + 1) & mask;
  }
  if (table_[at] == 0) {
    buffers_.push_back(buffer);
    table_[at] = static_cast<std::uint32_t>(buffers_.size());
    if (2 * buffers_.size() > table_.size()) {
      grow();
    }
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }
  return table_[at] - 1;
}

void BufferUses::grow() {
  table_.assign(2 * table_.size(), 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t number = 0; number < buffers_.size(); ++number) {
    std::size_t at = hash_of(buffers_[number]) & mask;
    while (table_[at] != 0) {
      at = (at + 1) & mask;
    }
    table_[at] = static_cast<std::uint32_t>(number + 1);
  }
}

}  // namespace zygos::schedule
