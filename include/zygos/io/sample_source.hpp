// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace zygos::io {

/// Samples that stay in a file until a batch wants them: what a Dataset has in place of its arrays'
/// bytes. Reading may happen on any thread, on several at once too.
class SampleSource {
 public:
  /// Of samples that were read; throws DataError that names the sample (part.first is the number
  /// of the first).
  using Check = std::function<void(const Dataset& part)>;

  virtual ~SampleSource() = default;
  /// Adds to what every sample must be from now on. Not while somebody reads.
  void require(Check check) { checks_.push_back(std::move(check)); }
  /// Reads samples [first, first + count) as dense rows of the data set's element types. Throws
  /// IoError when the system refuses, DataError for a file that is damaged.
  virtual void read(std::int64_t first, std::int64_t count, std::byte* inputs,
                    std::byte* targets) const = 0;
  /// Says that they will be read soon.
  virtual void announce(std::int64_t first, std::int64_t count) const = 0;
  /// Memory it holds of its own: caches of packed files.
  virtual std::size_t bytes() const = 0;
  /// Throws what the checks throw.
  void check(const Dataset& part) const {
    for (const Check& one : checks_) {
      one(part);
    }
  }

 private:
  std::vector<Check> checks_;
};

/// Samples [first, first + count) in memory, whether `data` are or not. Throws UsageError for
/// samples that are not there, and what reading and checking throw.
Dataset samples_in_memory(const Dataset& data, std::int64_t first, std::int64_t count);

}  // namespace zygos::io
