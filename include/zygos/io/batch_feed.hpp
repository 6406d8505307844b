// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The batches of a data set, one after the other: straight out of memory, or read from a file by a
// thread of their own, some batches ahead of who wants them. Which samples share a batch, and in
// which order, is the same either way.
#pragma once

#include "zygos/io/augmentation.hpp"
#include "zygos/io/batching.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace zygos::io {

struct FeedOptions {
  std::int64_t batch = 1;
  bool shuffle = false;
  bool drop_last = false;  ///< leave out an epoch's incomplete last batch
  std::uint64_t seed = 1;
  AugmentationOptions augmentation{};  ///< of every batch; its draws change from epoch to epoch
};

/// Batches that one pass over `samples` takes.
std::int64_t batches_per_epoch(std::int64_t samples, std::int64_t batch, bool drop_last);

/// One batch, borrowed until the next but one call of next(), or seek(): who holds one can ask for
/// the one behind it.
struct FedBatch {
  Rows inputs;
  Rows targets;
  std::span<const std::uint32_t> ids;   ///< numbers of the samples in the data set
  std::span<const std::uint32_t> rows;  ///< where they lie in inputs and targets; empty: at `ids`
};

/// Host memory that a BatchFeed takes, in bytes: batches that are read ahead, with the order of the
/// samples and what their source holds, and those that augmentation writes; 0 for data in memory
/// without it. `options.batch` is at least 1.
std::size_t feed_bytes(const Dataset& data, const FeedOptions& options);

class BatchFeed {
 public:
  /// Allocates all it will ever need. `data` must outlive the feed. Throws UsageError for a batch
  /// below 1 and for augmentation that these samples do not take, MemoryError.
  BatchFeed(const Dataset& data, const FeedOptions& options);
  /// Ends the reading thread: at once, or when the read in progress returns.
  ~BatchFeed();
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  /// The next batch is that of step `first`, the last one that of `last`; steps count from 1 and
  /// go on over epochs. Reading ahead begins now.
  void seek(std::int64_t first, std::int64_t last);
  /// Waits for the batch if it must. Throws what reading it has thrown: IoError, or DataError for
  /// values that can't be trained on. Throws UsageError behind the last batch.
  FedBatch next();

  /// Total seconds that next() has waited for the file, and that augmentation has taken.
  double waited_s() const;
  /// As feed_bytes() says.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  class Impl;
  class InMemory;
  class FromFile;
  std::unique_ptr<Impl> impl_;
  std::optional<Augmentation> augmentation_;
  std::int64_t batches_;  ///< of an epoch
  std::size_t bytes_ = 0;
  std::int64_t step_ = 1;
};

}  // namespace zygos::io
