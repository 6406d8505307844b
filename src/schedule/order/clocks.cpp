// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order/clocks.hpp"

#include <algorithm>
#include <bit>

namespace zygos::schedule {
namespace {

constexpr std::size_t min_memory = 1U << 10U;
constexpr std::size_t max_memory = 1U << 20U;

}  // namespace

Clocks::Clocks(const std::vector<Task>& tasks, std::size_t places)
    : nodes_(1),
      memory_(std::clamp(std::bit_ceil(tasks.size()), min_memory, max_memory)),
      roots_(tasks.size(), 0) {
  const std::size_t lines = places * queue_count;
  while ((lines >> ((top_ + 1) * fan_bits)) > 0) {
    ++top_;
  }
  lines_.reserve(tasks.size());
  positions_.reserve(tasks.size());
  std::vector<std::uint32_t> count(lines, 0);
  for (const Task& task : tasks) {
    lines_.push_back(static_cast<std::uint32_t>(line_of(task)));
    positions_.push_back(++count[lines_.back()]);
  }
}

void Clocks::join(std::size_t task, std::size_t earlier) {
  std::uint32_t& root = roots_[task];
  if (lines_[task] == lines_[earlier]) {
    // Their order needs no number.
    root = merged(root, roots_[earlier], top_);
  } else if (!ended_before(earlier, task)) {
    root = merged(root, roots_[earlier], top_);
    root = raised(root, lines_[earlier], positions_[earlier], top_);
  }
}

bool Clocks::ended_before(std::size_t first, std::size_t second) const {
  if (lines_[first] == lines_[second]) {
    return positions_[first] < positions_[second];
  }
  return ended(roots_[second], lines_[first]) >= positions_[first];
}

std::uint32_t Clocks::ended(std::uint32_t root, std::size_t line) const {
  std::uint32_t node = root;
  for (unsigned level = top_; level > 0 && node != 0; --level) {
    node = child(node, line, level);
  }
  return node == 0 ? 0 : child(node, line, 0);
}

std::uint32_t Clocks::merged(std::uint32_t one, std::uint32_t other, unsigned level) {
  if (one == other || other == 0) {
    return one;
  }
  if (one == 0) {
    return other;
  }
  const std::size_t hash = (one * 0x9e3779b1U) ^ (other * 0x85ebca77U);
  const std::size_t place = (hash ^ (hash >> 15U)) & (memory_.size() - 1);
  const Joined known = memory_[place];
  if (known.one == one && known.other == other) {
    return known.both;
  }
  const std::uint32_t both = merged_nodes(one, other, level);
  memory_[place] = {one, other, both};
  return both;
}

std::uint32_t Clocks::merged_nodes(std::uint32_t one, std::uint32_t other, unsigned level) {
  // By value: joins below may move the nodes.
  const Node first = nodes_[one];
  const Node second = nodes_[other];
  Node both;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i] = level == 0 ? std::max(first[i], second[i]) : merged(first[i], second[i], level - 1);
  }
  return both == first ? one : both == second ? other : add(both);
}

std::uint32_t Clocks::raised(std::uint32_t node, std::size_t line, std::uint32_t value,
                             unsigned level) {
  Node copy = nodes_[node];
  std::uint32_t& entry = copy[(line >> (level * fan_bits)) & (copy.size() - 1)];
  const std::uint32_t raised_entry =
      level == 0 ? std::max(entry, value) : raised(entry, line, value, level - 1);
  if (entry == raised_entry) {
    return node;
  }
  entry = raised_entry;
  return add(copy);
}

std::uint32_t Clocks::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

}  // namespace zygos::schedule
