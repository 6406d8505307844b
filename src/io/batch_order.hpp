// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batch_feed.hpp"

#include <algorithm>
#include <vector>

namespace zygos::io {

/// Which samples the steps of a run take.
class BatchOrder {
 public:
  BatchOrder(std::int64_t samples, const FeedOptions& options)
      : options_(options), order_(static_cast<std::size_t>(samples)) {}

  /// Of a step, counted from 1; valid until another epoch's are asked for.
  std::span<const std::uint32_t> ids_of(std::int64_t step) {
    const auto samples = std::ssize(order_);
    const std::int64_t batches = batches_per_epoch(samples, options_.batch, options_.drop_last);
    const std::int64_t epoch = (step - 1) / batches;
    if (epoch != epoch_) {
      fill_epoch_order(options_.seed, static_cast<std::uint64_t>(epoch), options_.shuffle, order_);
      epoch_ = epoch;
    }
    const std::int64_t cursor = (step - 1) % batches * options_.batch;
    return std::span<const std::uint32_t>(order_).subspan(
        static_cast<std::size_t>(cursor),
        static_cast<std::size_t>(std::min(options_.batch, samples - cursor)));
  }

 private:
  FeedOptions options_;
  std::vector<std::uint32_t> order_;
  std::int64_t epoch_ = -1;
};

}  // namespace zygos::io
