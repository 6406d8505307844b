// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Strict mode. Sums of floating-point numbers depend on their order, so here there is only one: the
// batch is cut into chunks of fixed samples, and the gradients of chunks are summed in a binary
// tree over the chunks' numbers. Neither a policy nor a micro-batch, a place or the time at which
// something is ready changes who is added to whom, and so no bit of the result.
#pragma once

#include "zygos/schedule/tasks_by_place.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace zygos::schedule {

/// Samples of a micro-batch are worked on in slices: one, or in strict mode (`chunk` above 0)
/// chunks of fixed samples, which end at multiples of `chunk` of the global batch.
std::vector<SampleRange> slices_of(SampleRange samples, std::int64_t chunk);

/// Node of the tree: the chunks from index * 2^level, 2^level of them (as far as there are any).
struct Subtree {
  std::int32_t level = 0;
  std::int64_t index = 0;
  friend auto operator<=>(const Subtree&, const Subtree&) = default;
  friend bool operator==(const Subtree&, const Subtree&) = default;
};

/// What a place does with the gradients of its chunks. Slots are buffers of the stage's size; they
/// are taken lowest first, so that what is left in the end lies in the first ones.
struct PlaceTree {
  struct Merge {
    std::int32_t into = 0;  ///< slot that becomes the sum of both
    std::int32_t from = 0;
  };
  struct Leaf {
    std::int32_t slot = 0;      ///< where the chunk's gradient goes
    std::vector<Merge> merges;  ///< what can be summed then
  };
  std::map<std::int64_t, Leaf> leaves;  ///< by chunk
  std::vector<Subtree> results;         ///< what is left, by slot
  std::int32_t slots = 1;               ///< that are in use at once
};

/// Who is added to whom when the results of several places are put together.
struct TreeSum {
  enum class From : std::uint8_t { own, message, temporary };
  struct Operand {
    From from = From::own;
    Place place = 0;        ///< message: of whom
    std::int32_t slot = 0;  ///< or number of the temporary
  };
  struct Step {
    bool adds = true;         ///< false: `a` is only brought into the temporary
    std::int32_t target = 0;  ///< temporary; the last step's is the result
    Operand a;
    Operand b;
  };
  std::vector<Step> steps;
  std::int32_t temporaries = 1;
};

/// Number of the chunk that begins with sample `begin`. Throws UsageError if none does.
std::int64_t chunk_at(const Schedule& schedule, std::int64_t begin);

/// For a place's chunks in the order of its backward tasks. Throws UsageError for micro-batches
/// that do not begin at a chunk's begin, and for schedules with several updates a step.
PlaceTree place_tree(const TasksByPlace& tasks, Place place);

/// `places` in the order of the all-reduce, `self` among them; `lands`: messages have to be brought
/// into lane memory before they can be added.
TreeSum tree_sum(const TasksByPlace& tasks, const std::vector<Place>& places, Place self,
                 bool lands);

}  // namespace zygos::schedule
