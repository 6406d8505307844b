// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batch_feed.hpp"
#include "zygos/train/look_ahead.hpp"

#include <cstdint>

namespace zygos::app {

struct RunSetup;

/// Samples of the steps as training would take them; an epoch's incomplete last batch is left out.
class FedSamples {
 public:
  /// Whether behind() is asked for.
  enum class Looks { no, where_batches_are_loaded_ahead };

  /// `setup` must outlive them.
  explicit FedSamples(const RunSetup& setup, Looks looks = Looks::where_batches_are_loaded_ahead);

  /// The next batch is that of step `first`, the last one that of `last`.
  void seek(std::int64_t first, std::int64_t last) { batches_.seek(first, last); }
  /// As those of train::LookAhead.
  const train::Batch& next() { return batches_.next(); }
  const train::Batch* behind() const { return batches_.behind(); }

 private:
  io::BatchFeed feed_;
  train::LookAhead batches_;
};

}  // namespace zygos::app
