// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/order/clocks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace zygos::schedule {
namespace {

constexpr std::size_t min_memory = 1U << 10U;
constexpr std::size_t max_memory = 1U << 20U;
/// Where both sides have news of more queues than this, or than a part of all, numbers are
/// compared.
constexpr std::size_t min_looks = 64;
constexpr std::size_t lines_per_look = 16;
/// With more than this, a task's list goes on as it was: lists of all tasks must fit in memory.
constexpr std::size_t max_kept = 8;

}  // namespace

Clocks::Clocks(const std::vector<Task>& tasks, std::size_t places)
    : nodes_(1),
      joining_(tasks.size()),
      memory_(std::clamp(std::bit_ceil(tasks.size()), min_memory, max_memory)),
      roots_(tasks.size(), 0),
      known_(1),
      lists_(tasks.size(), 0) {
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
  mine_.seen.resize(tasks.size(), 0);
  theirs_.seen.resize(tasks.size(), 0);
  looks_ = std::max(min_looks, lines / lines_per_look);
}

void Clocks::join(std::size_t task, std::size_t earlier) {
  const bool first = joining_ != task;
  if (first) {
    joining_ = task;
    shared_ = nodes_.size();
  }
  if (lines_[task] != lines_[earlier]) {
    if (!ended_before(earlier, task)) {
      combine(task, earlier);
    }
  } else if (first) {
    // Their order needs no number.
    roots_[task] = roots_[earlier];
    lists_[task] = lists_[earlier];
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

/// When the task has ended, itself counted.
std::uint32_t Clocks::ended_for(std::size_t task, std::size_t line) const {
  return line == lines_[task] ? positions_[task] : ended(roots_[task], line);
}

void Clocks::combine(std::size_t task, std::size_t earlier) {
  std::uint32_t& root = roots_[task];
  find_news(task, earlier);
  if (mine_.open.empty()) {
    root = with_news(raised(roots_[earlier], lines_[earlier], positions_[earlier], top_), mine_);
    shorten_list(task, earlier);
  } else if (theirs_.open.empty()) {
    root = with_news(root, theirs_);
  } else {
    root = merged(root, roots_[earlier], top_);
    shared_ = nodes_.size();
    root = raised(root, lines_[earlier], positions_[earlier], top_);
  }
  put_into_list(task, {static_cast<std::uint32_t>(earlier), positions_[task], 0});
}

/// Until all news of one side is found, or what was looked at is too much.
void Clocks::find_news(std::size_t task, std::size_t earlier) {
  ++search_;
  for (News* news : {&mine_, &theirs_}) {
    news->found.clear();
    news->open.clear();
  }
  if (lists_[task] != 0) {
    mine_.open.push_back({lists_[task], ended_for(earlier, lines_[task])});
  }
  look(theirs_, static_cast<std::uint32_t>(earlier), task);
  for (std::size_t i = 0; i < looks_ && !mine_.open.empty() && !theirs_.open.empty(); ++i) {
    look_at_next(mine_, earlier);
    look_at_next(theirs_, task);
  }
}

/// Whether the reader knows the task, and may know all that it knows.
void Clocks::look(News& news, std::uint32_t task, std::size_t reader) {
  ++work_;
  const std::uint32_t read = ended_for(reader, lines_[task]);
  if (read >= positions_[task] || std::exchange(news.seen[task], search_) == search_) {
    return;
  }
  news.found.push_back(task);
  if (lists_[task] != 0) {
    news.open.push_back({lists_[task], read});
  }
}

void Clocks::look_at_next(News& news, std::size_t reader) {
  News::Cursor& cursor = news.open.back();
  const Known known = known_[cursor.known];
  const bool old = known.position <= cursor.position;
  cursor.known = known.next;
  if (old || known.next == 0) {
    news.open.pop_back();
  }
  if (!old) {
    look(news, known.task, reader);
  }
}

std::uint32_t Clocks::with_news(std::uint32_t root, const News& news) {
  for (const std::uint32_t task : news.found) {
    root = raised(root, lines_[task], positions_[task], top_);
  }
  return root;
}

/// Takes out of the list what the other knows, if little is left.
void Clocks::shorten_list(std::size_t task, std::size_t earlier) {
  const std::uint32_t read = ended_for(earlier, lines_[task]);
  std::array<Known, max_kept> kept;
  std::size_t count = 0;
  for (std::uint32_t at = lists_[task]; at != 0 && known_[at].position > read;
       at = known_[at].next) {
    const Known& known = known_[at];
    if (ended_for(earlier, lines_[known.task]) >= positions_[known.task]) {
      continue;
    }
    if (count == kept.size()) {
      return;
    }
    kept[count++] = known;
  }
  lists_[task] = 0;
  while (count > 0) {
    put_into_list(task, kept[--count]);
  }
}

void Clocks::put_into_list(std::size_t task, Known known) {
  known.next = lists_[task];
  lists_[task] = static_cast<std::uint32_t>(known_.size());
  known_.push_back(known);
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
  ++work_;
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
  if (node >= shared_) {
    nodes_[node] = copy;
    return node;
  }
  return add(copy);
}

std::uint32_t Clocks::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

}  // namespace zygos::schedule
