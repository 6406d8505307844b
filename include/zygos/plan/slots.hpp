// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the tensors of a buffer lie in it. Each is found by its name, so whoever lays a buffer out
// and whoever binds tensors to it need not agree on an order.
#pragma once

#include "zygos/graph/graph.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zygos::plan {

/// What a tensor is.
enum class Role : std::uint8_t {
  contents,         ///< all of a buffer that is one tensor or has no tensors of its own: a message
  model_input,      ///< of the samples
  target,           ///< likewise
  sample_ids,       ///< likewise
  output,           ///< of a node
  output_gradient,  ///< of a node's output
  added_gradient,   ///< of input `index` of a node, before it is added to the output's gradient
  kept_workspace,   ///< workspace `index` of a node that backward reads, of one slice
  scratch_workspace,  ///< workspace `index` of a node that lives within one call
  loss_values,        ///< of the samples
  loss_hits,          ///< likewise
  norm_pieces,        ///< see NormPlan: (pieces, 2) i64, elements from the gradient's first one
  norm_first,         ///< (own sums + 1) i64
  norm_workspace,     ///< f64
  norm_sums,          ///< (sums of the model) f64
  norm_factor,        ///< (1) f64
};
std::string_view name_of(Role role);

/// Identity of a tensor within its buffer.
struct SlotName {
  Role role = Role::contents;
  graph::NodeId node = -1;  ///< -1: of no node
  std::int32_t index = 0;   ///< input or workspace of the node
  std::int32_t slice = 0;   ///< of the micro-batch, see schedule::slices_of
  friend auto operator<=>(const SlotName&, const SlotName&) = default;
  friend bool operator==(const SlotName&, const SlotName&) = default;
};
/// "kept_workspace 0 of node 3, slice 1".
std::string text_of(const SlotName& name);

struct Slot {
  SlotName name;
  std::size_t offset = 0;  ///< from the buffer's begin
  std::size_t bytes = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// The slots of one buffer, sorted by name.
class SlotTable {
 public:
  SlotTable() = default;
  /// Throws InternalError if two have the same name.
  explicit SlotTable(std::vector<Slot> slots);

  /// Null if there is no such slot.
  const Slot* find(const SlotName& name) const;
  /// Throws InternalError if there is no such slot.
  const Slot& at(const SlotName& name) const;
  const std::vector<Slot>& all() const noexcept { return slots_; }
  /// From the buffer's begin to the end of the last slot, without its padding.
  std::size_t used_bytes() const;
  friend bool operator==(const SlotTable&, const SlotTable&) = default;

 private:
  std::vector<Slot> slots_;
};

}  // namespace zygos::plan
