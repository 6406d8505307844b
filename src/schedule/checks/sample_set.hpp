// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/ranges.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zygos::schedule {

/// Samples whose gradients are in a sum: ranges in order, with gaps between them.
class SampleSet {
 public:
  /// The first of `samples` that were in the set already, if any.
  std::optional<SampleRange> add(const SampleRange& samples);
  std::optional<SampleRange> add(const SampleSet& samples);

  void clear() { ranges_.clear(); }
  bool touches(const SampleRange& samples) const;
  /// The first of `samples` that are not in the set, if any.
  std::optional<SampleRange> first_missing(const SampleRange& samples) const;
  const std::vector<SampleRange>& ranges() const noexcept { return ranges_; }

 private:
  std::vector<SampleRange> ranges_;
};

}  // namespace zygos::schedule
