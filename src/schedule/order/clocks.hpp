// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which task has ended before which starts. A queue of a place works through its tasks one after
// the other, so one number per queue says everything a task may rely on: how many tasks of that
// queue have ended. These numbers are the leaves of a tree that tasks share: one that waits for
// nobody but its queue has the tree of the task before it, and a join makes new only what differs.
//
// A join of two tasks costs as much as there are queues of which the one that knows less news of
// the other has any, however many numbers differ: on a ring of n places all n do in every round,
// but whoever receives knows nothing that the sender does not but of its own queues. To find the
// news, a task has a list of those on other queues that it knows directly; what these know needs a
// look only if the other does not know them (the idea of tree clocks: Mathur et al., ASPLOS 2022).
// Where both have much news, the trees are merged number by number.
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

  /// `task` starts after `earlier`, which has joined all it waits for itself. All that a task joins
  /// are joined one after the other, and first the one before it on its queue.
  void join(std::size_t task, std::size_t earlier);

  /// O(log of the number of queues). `second` may still be joining.
  bool ended_before(std::size_t first, std::size_t second) const;

  /// Nodes of all trees together, 16 bytes each.
  std::size_t size() const noexcept { return nodes_.size(); }
  /// Tasks looked at, and nodes merged, by all joins together.
  std::size_t work() const noexcept { return work_; }

 private:
  static constexpr unsigned fan_bits = 2;
  /// Nodes of the next level; numbers of ended tasks on the last. A tree of zeros is node 0.
  using Node = std::array<std::uint32_t, 1U << fan_bits>;
  struct Joined {
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    std::uint32_t both = 0;
  };
  /// One of a list of tasks that a task knows directly, latest first. Tasks of a queue share lists.
  struct Known {
    std::uint32_t task = 0;
    std::uint32_t position = 0;  ///< of the task that put it into the list
    std::uint32_t next = 0;      ///< 0: none
  };
  /// What one task knows and another does not, while it is being found.
  struct News {
    struct Cursor {
      std::uint32_t known = 0;
      std::uint32_t position = 0;  ///< what was put into the list up to here is no news
    };
    std::vector<Cursor> open;
    std::vector<std::uint32_t> found;  ///< tasks
    std::vector<std::uint32_t> seen;   ///< by task: the last search that came by
  };

  std::uint32_t child(std::uint32_t node, std::size_t line, unsigned level) const {
    return nodes_[node][(line >> (level * fan_bits)) & ((1U << fan_bits) - 1)];
  }
  std::uint32_t ended(std::uint32_t root, std::size_t line) const;
  std::uint32_t ended_for(std::size_t task, std::size_t line) const;
  void combine(std::size_t task, std::size_t earlier);
  void find_news(std::size_t task, std::size_t earlier);
  void look(News& news, std::uint32_t task, std::size_t reader);
  void look_at_next(News& news, std::size_t reader);
  std::uint32_t with_news(std::uint32_t root, const News& news);
  void shorten_list(std::size_t task, std::size_t earlier);
  void put_into_list(std::size_t task, Known known);
  std::uint32_t merged(std::uint32_t one, std::uint32_t other, unsigned level);
  std::uint32_t merged_nodes(std::uint32_t one, std::uint32_t other, unsigned level);
  std::uint32_t raised(std::uint32_t node, std::size_t line, std::uint32_t value, unsigned level);
  std::uint32_t add(const Node& node);

  unsigned top_ = 0;  ///< level of the roots; level 0 holds the numbers
  std::vector<Node> nodes_;
  std::size_t shared_ = 1;            ///< nodes from here on belong to the task that joins alone
  std::size_t joining_;               ///< that task
  std::vector<Joined> memory_;        ///< of merges; a hub meets the same trees again and again
  std::vector<std::uint32_t> roots_;  ///< by task
  std::vector<Known> known_;
  std::vector<std::uint32_t> lists_;  ///< by task: of those that it knows directly
  std::vector<std::uint32_t> lines_;
  std::vector<std::uint32_t> positions_;  ///< of tasks on their queues, from 1
  News mine_;
  News theirs_;
  std::uint32_t search_ = 0;
  std::size_t looks_ = 0;  ///< at most, for news of each side
  std::size_t work_ = 0;
};

}  // namespace zygos::schedule
