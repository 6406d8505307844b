// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/checks/sample_set.hpp"

#include <algorithm>

namespace zygos::schedule {

std::optional<SampleRange> SampleSet::add(const SampleRange& samples) {
  if (samples.count() <= 0) {
    return {};
  }
  // All ranges from `first` to `last` touch the new one and become one with it.
  const auto first = std::ranges::lower_bound(ranges_, samples.begin, {}, &SampleRange::end);
  auto last = first;
  SampleRange all = samples;
  std::optional<SampleRange> twice;
  for (; last != ranges_.end() && last->begin <= samples.end; ++last) {
    const SampleRange both{std::max(last->begin, samples.begin), std::min(last->end, samples.end)};
    if (both.count() > 0 && !twice) {
      twice = both;
    }
    all = {std::min(all.begin, last->begin), std::max(all.end, last->end)};
  }
  if (first == last) {
    ranges_.insert(first, all);
  } else {
    *first = all;
    ranges_.erase(first + 1, last);
  }
  return twice;
}

std::optional<SampleRange> SampleSet::add(const SampleSet& samples) {
  std::optional<SampleRange> twice;
  for (const SampleRange& range : samples.ranges_) {
    const auto found = add(range);
    twice = twice ? twice : found;
  }
  return twice;
}

bool SampleSet::touches(const SampleRange& samples) const {
  const auto found = std::ranges::upper_bound(ranges_, samples.begin, {}, &SampleRange::end);
  return samples.count() > 0 && found != ranges_.end() && found->begin < samples.end;
}

std::optional<SampleRange> SampleSet::first_missing(const SampleRange& samples) const {
  if (samples.count() <= 0) {
    return {};
  }
  const auto found = std::ranges::upper_bound(ranges_, samples.begin, {}, &SampleRange::end);
  if (found == ranges_.end() || samples.end <= found->begin) {
    return samples;
  }
  if (samples.begin < found->begin) {
    return SampleRange{samples.begin, found->begin};
  }
  // Gaps lie between ranges, so the rest of it is missing up to the next one.
  if (found->end < samples.end) {
    const auto next = found + 1;
    return SampleRange{found->end,
                       next == ranges_.end() ? samples.end : std::min(next->begin, samples.end)};
  }
  return {};
}

}  // namespace zygos::schedule
