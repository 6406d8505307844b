// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/ranges.hpp"

#include <algorithm>

namespace zygos::schedule {
namespace {

template <class Range>
std::string range_text(const Range& range) {
  return std::to_string(range.begin) + "-" + std::to_string(range.end);
}

}  // namespace

ElementRange joined(const ElementRange& one, const ElementRange& other) {
  if (one.count() == 0 || other.count() == 0) {
    return one.count() == 0 ? other : one;
  }
  return {std::min(one.begin, other.begin), std::max(one.end, other.end)};
}

std::string text_of(const SampleRange& samples) { return range_text(samples); }

std::string text_of(const NodeRange& nodes) { return range_text(nodes); }

std::string text_of(const ElementRange& elements) { return range_text(elements); }

}  // namespace zygos::schedule
