// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/look_ahead.hpp"

#include <algorithm>
#include <utility>

namespace zygos::train {

Batch batch_of(const io::FedBatch& fed) { return {fed.inputs, fed.targets, fed.ids, fed.rows}; }

void LookAhead::seek(std::int64_t first, std::int64_t last) {
  feed_.seek(first, last);
  left_ = std::max<std::int64_t>(last - first + 1, 0);
  current_.reset();
  behind_.reset();
  failure_ = nullptr;
}

const Batch& LookAhead::next() {
  if (failure_ != nullptr) {
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  current_ = behind_ ? *std::exchange(behind_, std::nullopt) : batch_of(feed_.next());
  left_ -= 1;
  if (looks_ && left_ > 0) {
    look();
  }
  return *current_;
}

void LookAhead::look() {
  try {
    behind_ = batch_of(feed_.next());
  } catch (...) {
    failure_ = std::current_exception();
  }
}

}  // namespace zygos::train
