// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/in_process_group.hpp"

namespace zygos::comm {

std::shared_ptr<Slot> Group::slot(int from, int to, int tag) {
  const std::lock_guard lock(mutex_);
  auto& slot = slots_[{from, to, tag}];
  if (slot == nullptr) {
    slot = std::make_shared<Slot>();
  }
  return slot;
}

void Group::abort(int rank, std::string_view reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (aborted_by_.load(std::memory_order_relaxed) < 0) {
    try {
      reason_ = reason;
    } catch (...) {
      reason_.clear();  // out of memory: that it failed matters more than why
    }
    aborted_by_.store(rank, std::memory_order_release);
  }
}

std::string Group::reason() {
  const std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace zygos::comm
