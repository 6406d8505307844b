// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads batches from a data set's source on a thread of its own, into a ring of buffers.
#pragma once

#include "io/batch_order.hpp"

#include "zygos/io/sample_source.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace zygos::io {

/// Host memory that a Prefetcher of such batches takes, in bytes: its ring of batches, the order of
/// the samples, and what their source holds. Vectors of a batch's sample numbers are not counted.
std::size_t prefetch_bytes(const Dataset& data, std::int64_t batch);

class Prefetcher {
 public:
  Prefetcher(const Dataset& data, const FeedOptions& options);
  ~Prefetcher() { stop(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  void start(std::int64_t first, std::int64_t last);
  FedBatch next();
  double waited_s() const noexcept { return waited_s_; }

 private:
  /// One batch, its rows in the order of the file.
  struct Slot {
    std::shared_ptr<std::byte> inputs;
    std::shared_ptr<std::byte> targets;
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> rows;  ///< of ids
    std::exception_ptr failure;       ///< of reading it
  };
  /// Consecutive samples of the file that are consecutive rows of a slot.
  struct Run {
    std::int64_t first;
    std::int64_t count;
    std::size_t row;
  };

  void stop();
  void work(std::int64_t first, std::int64_t last);
  void fill(Slot& slot, std::int64_t step);
  void sort_into_runs(Slot& slot);
  void read(Slot& slot, const Run& run);
  FedBatch view(const Slot& slot) const;

  const Dataset& data_;
  BatchOrder order_;
  DatasetRows layout_;  ///< rows without samples
  std::size_t batch_;
  std::vector<Slot> slots_;
  // Of the reading thread alone:
  std::vector<std::uint32_t> sorted_;  ///< positions in the batch by sample
  std::vector<Run> runs_;
  Dataset part_;  ///< what is being checked

  std::thread thread_;
  std::mutex mutex_;  ///< of the four below
  std::condition_variable changed_;
  std::size_t filled_ = 0;    ///< total slots since start()
  std::size_t released_ = 0;  ///< of them free again
  std::size_t end_ = 0;       ///< slots there will be
  bool stopping_ = false;
  std::size_t taken_ = 0;  ///< by next()
  double waited_s_ = 0.0;
};

}  // namespace zygos::io
