// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/gradient_tree.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace zygos::schedule {
namespace {

std::int64_t chunk_count(const Schedule& schedule) {
  return (schedule.batch + schedule.chunk - 1) / schedule.chunk;
}

std::int64_t first_chunk(const Subtree& node) { return node.index << node.level; }

Subtree sibling(const Subtree& node) { return {node.level, node.index ^ 1}; }

Subtree parent(const Subtree& node) { return {node.level + 1, node.index >> 1}; }

bool is_root(const Subtree& node, std::int64_t chunks) {
  return node.index == 0 && (std::int64_t{1} << node.level) >= chunks;
}

/// Adds up one place's chunks as they come.
class Accumulation {
 public:
  explicit Accumulation(std::int64_t chunks) : chunks_(chunks) {}

  void add(std::int64_t chunk) {
    PlaceTree::Leaf& leaf = out_.leaves[chunk];
    leaf.slot = lowest_free();
    Subtree node{0, chunk};
    live_[node] = leaf.slot;
    while (!is_root(node, chunks_)) {
      const std::int32_t slot = live_.at(node);
      const Subtree other = sibling(node);
      const auto found = live_.find(other);
      if (found == live_.end() && first_chunk(other) < chunks_) {
        break;  // of other places, or still to come
      }
      std::int32_t kept = slot;
      if (found != live_.end()) {
        kept = std::min(slot, found->second);
        leaf.merges.push_back({kept, std::max(slot, found->second)});
        live_.erase(found);
      }
      live_.erase(node);
      node = parent(node);
      live_[node] = kept;
    }
  }

  PlaceTree take() {
    std::vector<std::pair<std::int32_t, Subtree>> left;
    for (const auto& [node, slot] : live_) {
      left.emplace_back(slot, node);
    }
    std::ranges::sort(left);
    for (const auto& [slot, node] : left) {
      ZYGOS_REQUIRE(slot == static_cast<std::int32_t>(out_.results.size()),
                    "results of a gradient tree leave a gap");
      out_.results.push_back(node);
    }
    return std::move(out_);
  }

 private:
  std::int32_t lowest_free() {
    std::set<std::int32_t> taken;
    for (const auto& [node, slot] : live_) {
      taken.insert(slot);
    }
    std::int32_t slot = 0;
    while (taken.contains(slot)) {
      ++slot;
    }
    out_.slots = std::max(out_.slots, slot + 1);
    return slot;
  }

  std::int64_t chunks_;
  std::map<Subtree, std::int32_t> live_;
  PlaceTree out_;
};

/// Puts the results of several places together.
class Summation {
 public:
  Summation(std::int64_t chunks, std::map<Subtree, TreeSum::Operand> given, bool lands)
      : chunks_(chunks), given_(std::move(given)), lands_(lands) {}

  TreeSum sum() {
    Subtree root{0, 0};
    while (!is_root(root, chunks_)) {
      root = parent(root);
    }
    const TreeSum::Operand result = value_of(root);
    if (result.from != TreeSum::From::temporary) {
      out_.steps.push_back({false, take(), result, {}});
    }
    return std::move(out_);
  }

 private:
  TreeSum::Operand value_of(const Subtree& node) {
    const auto found = given_.find(node);
    if (found != given_.end()) {
      return landed(found->second);
    }
    ZYGOS_REQUIRE(node.level > 0, "a chunk's gradient is on no place");
    const Subtree left{node.level - 1, node.index * 2};
    const Subtree right{node.level - 1, node.index * 2 + 1};
    const TreeSum::Operand a = value_of(left);
    if (first_chunk(right) >= chunks_) {
      return a;
    }
    const TreeSum::Operand b = value_of(right);
    release(a);
    release(b);
    const std::int32_t target = take();
    out_.steps.push_back({true, target, a, b});
    return {TreeSum::From::temporary, 0, target};
  }

  TreeSum::Operand landed(const TreeSum::Operand& operand) {
    if (!lands_ || operand.from != TreeSum::From::message) {
      return operand;
    }
    const std::int32_t target = take();
    out_.steps.push_back({false, target, operand, {}});
    return {TreeSum::From::temporary, 0, target};
  }

  std::int32_t take() {
    std::int32_t lowest = 0;
    while (taken_.contains(lowest)) {
      ++lowest;
    }
    taken_.insert(lowest);
    out_.temporaries = std::max(out_.temporaries, lowest + 1);
    return lowest;
  }

  void release(const TreeSum::Operand& operand) {
    if (operand.from == TreeSum::From::temporary) {
      taken_.erase(operand.slot);
    }
  }

  std::int64_t chunks_;
  std::map<Subtree, TreeSum::Operand> given_;
  bool lands_;
  std::set<std::int32_t> taken_;
  TreeSum out_;
};

}  // namespace

std::vector<SampleRange> slices_of(SampleRange samples, std::int64_t chunk) {
  if (chunk <= 0) {
    return {samples};
  }
  std::vector<SampleRange> slices;
  for (std::int64_t begin = samples.begin; begin < samples.end;) {
    const std::int64_t end = std::min(samples.end, (begin / chunk + 1) * chunk);
    slices.push_back({begin, end});
    begin = end;
  }
  return slices;
}

std::int64_t chunk_at(const Schedule& schedule, std::int64_t begin) {
  if (begin % schedule.chunk != 0) {
    throw UsageError("strict mode sums gradients of " + std::to_string(schedule.chunk) +
                     " samples at a time, but policy '" + schedule.policy +
                     "' cuts the batch at sample " + std::to_string(begin) +
                     "; choose shares, micro-batches and train.strict so that every part holds a "
                     "whole number of chunks");
  }
  return begin / schedule.chunk;
}

PlaceTree place_tree(const TasksByPlace& tasks, Place place) {
  const Schedule& schedule = tasks.schedule();
  if (schedule.updates.size() != 1) {
    throw UsageError("strict mode is for policies with one update a step; '" + schedule.policy +
                     "' makes " + std::to_string(schedule.updates.size()) +
                     ". Its results do not depend on timing in any mode: leave train.strict off");
  }
  Accumulation accumulation(chunk_count(schedule));
  std::set<MicroBatch> seen;
  for (const TaskId id : tasks.of(place)) {
    const Task& task = tasks.task(id);
    if (task.kind != TaskKind::backward || !seen.insert(task.micro_batch).second) {
      continue;
    }
    for (const SampleRange& slice : slices_of(task.samples, schedule.chunk)) {
      accumulation.add(chunk_at(schedule, slice.begin));
    }
  }
  return accumulation.take();
}

TreeSum tree_sum(const TasksByPlace& tasks, const std::vector<Place>& places, Place self,
                 bool lands) {
  std::map<Subtree, TreeSum::Operand> given;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlaceTree tree = place_tree(tasks, places[i]);
    for (std::size_t slot = 0; slot < tree.results.size(); ++slot) {
      given[tree.results[slot]] = {places[i] == self ? TreeSum::From::own : TreeSum::From::message,
                                   places[i], static_cast<std::int32_t>(slot)};
    }
  }
  return Summation(chunk_count(tasks.schedule()), std::move(given), lands).sum();
}

}  // namespace zygos::schedule
