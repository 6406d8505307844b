// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which task has ended before which starts. A queue of a place works through its tasks one after
// the other, so one number per queue says everything a task may rely on: how many tasks of that
// queue have ended. These numbers are the leaves of a tree that tasks share: one that waits for
// nobody but its queue has the tree of the task before it, and a join makes new only what differs
// from both. Ten thousand places of a hundred tasks fit in memory as long as their trees are alike,
// as they are where places talk to neighbours, through a hub, or by halving distances.
#pragma once

#include "zygos/schedule/task.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::schedule {

class Clocks {
 public:
  Clocks(const std::vector<Task>& tasks, std::size_t places);

  /// `task` starts after `earlier`, which has joined all it waits for itself. The task before it on
  /// its queue is to be joined as well.
  void join(std::size_t task, std::size_t earlier);

  /// O(log of the number of queues). `second` may still be joining.
  bool ended_before(std::size_t first, std::size_t second) const;

  /// Nodes of all trees together, 16 bytes each.
  std::size_t size() const noexcept { return nodes_.size(); }

 private:
  static constexpr unsigned fan_bits = 2;
  /// Nodes of the next level; numbers of ended tasks on the last. A tree of zeros is node 0.
  using Node = std::array<std::uint32_t, 1U << fan_bits>;
  struct Joined {
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    std::uint32_t both = 0;
  };

  std::uint32_t child(std::uint32_t node, std::size_t line, unsigned level) const {
    return nodes_[node][(line >> (level * fan_bits)) & ((1U << fan_bits) - 1)];
  }
  std::uint32_t ended(std::uint32_t root, std::size_t line) const;
  std::uint32_t merged(std::uint32_t one, std::uint32_t other, unsigned level);
  std::uint32_t merged_nodes(std::uint32_t one, std::uint32_t other, unsigned level);
  std::uint32_t raised(std::uint32_t node, std::size_t line, std::uint32_t value, unsigned level);
  std::uint32_t add(const Node& node);

  unsigned top_ = 0;  ///< level of the roots; level 0 holds the numbers
  std::vector<Node> nodes_;
  std::vector<Joined> memory_;        ///< of joins; a hub meets the same trees again and again
  std::vector<std::uint32_t> roots_;  ///< by task
  std::vector<std::uint32_t> lines_;
  std::vector<std::uint32_t> positions_;  ///< of tasks on their queues, from 1
};

}  // namespace zygos::schedule
