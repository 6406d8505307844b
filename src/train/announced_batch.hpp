// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/train/batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zygos::train {

/// A batch that was brought to lanes before its step: enough to know it again. Its samples belong
/// to the caller and are not compared.
class AnnouncedBatch {
 public:
  void reserve(std::size_t samples) {
    ids_.reserve(samples);
    rows_.reserve(samples);
  }
  void note(const Batch& batch) {
    known_ = true;
    inputs_ = batch.inputs.data;
    targets_ = batch.targets.data;
    ids_.assign(batch.ids.begin(), batch.ids.end());
    rows_.assign(batch.rows.begin(), batch.rows.end());
  }
  void forget() noexcept { known_ = false; }
  bool is(const Batch& batch) const {
    return known_ && inputs_ == batch.inputs.data && targets_ == batch.targets.data &&
           std::ranges::equal(ids_, batch.ids) && std::ranges::equal(rows_, batch.rows);
  }

 private:
  bool known_ = false;
  const void* inputs_ = nullptr;
  const void* targets_ = nullptr;
  std::vector<std::uint32_t> ids_;
  std::vector<std::uint32_t> rows_;  ///< empty as those of the batch are
};

}  // namespace zygos::train
