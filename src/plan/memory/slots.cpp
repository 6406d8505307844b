// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/slots.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::plan {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::contents:
      return "contents";
    case Role::model_input:
      return "model_input";
    case Role::target:
      return "target";
    case Role::sample_ids:
      return "sample_ids";
    case Role::output:
      return "output";
    case Role::output_gradient:
      return "output_gradient";
    case Role::added_gradient:
      return "added_gradient";
    case Role::kept_workspace:
      return "kept_workspace";
    case Role::scratch_workspace:
      return "scratch_workspace";
    case Role::loss_values:
      return "loss_values";
    case Role::loss_hits:
      return "loss_hits";
    case Role::norm_pieces:
      return "norm_pieces";
    case Role::norm_first:
      return "norm_first";
    case Role::norm_workspace:
      return "norm_workspace";
    case Role::norm_sums:
      return "norm_sums";
    case Role::norm_factor:
      return "norm_factor";
  }
  return "?";
}

std::string text_of(const SlotName& name) {
  std::string text(name_of(name.role));
  if (name.node >= 0) {
    text += " " + std::to_string(name.index) + " of node " + std::to_string(name.node) +
            ", slice " + std::to_string(name.slice);
  }
  return text;
}

SlotTable::SlotTable(std::vector<Slot> slots) : slots_(std::move(slots)) {
  std::ranges::sort(slots_, {}, &Slot::name);
  const auto twice = std::ranges::adjacent_find(slots_, {}, &Slot::name);
  if (twice != slots_.end()) {
    throw InternalError("a buffer has two slots '" + text_of(twice->name) + "'");
  }
}

const Slot* SlotTable::find(const SlotName& name) const {
  const auto found = std::ranges::lower_bound(slots_, name, {}, &Slot::name);
  return found == slots_.end() || found->name != name ? nullptr : &*found;
}

const Slot& SlotTable::at(const SlotName& name) const {
  const Slot* slot = find(name);
  if (slot == nullptr) {
    throw InternalError("a buffer was planned without its slot '" + text_of(name) + "'");
  }
  return *slot;
}

std::size_t SlotTable::used_bytes() const {
  std::size_t bytes = 0;
  for (const Slot& slot : slots_) {
    bytes = std::max(bytes, slot.offset + slot.bytes);
  }
  return bytes;
}

}  // namespace zygos::plan
