// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batch_feed.hpp"
#include "zygos/train/batch.hpp"

#include <cstdint>
#include <exception>
#include <optional>

namespace zygos::train {

/// The feed's batch as a step takes it.
Batch batch_of(const io::FedBatch& fed);

/// The batches of a feed, each with the one behind it: what Engine::step() needs to bring a batch
/// to lanes while the step before it computes.
class LookAhead {
 public:
  /// `feed` must outlive this. Unless `looks`, batches are taken one by one: what is not needed
  /// ahead is not waited for.
  LookAhead(io::BatchFeed& feed, bool looks) : feed_(feed), looks_(looks) {}

  /// As io::BatchFeed::seek().
  void seek(std::int64_t first, std::int64_t last);
  /// The next batch, valid until the next but one call. Throws as io::BatchFeed::next() does, and
  /// what reading the batch has thrown when it was looked at, not before its turn.
  const Batch& next();
  /// The one behind that of next(); null if there is none, or nobody looks.
  const Batch* behind() const { return behind_ ? &*behind_ : nullptr; }

 private:
  void look();

  io::BatchFeed& feed_;
  bool looks_;
  std::int64_t left_ = 0;  ///< batches that next() has not given
  std::optional<Batch> current_;
  std::optional<Batch> behind_;
  std::exception_ptr failure_;  ///< of reading the batch behind
};

}  // namespace zygos::train
