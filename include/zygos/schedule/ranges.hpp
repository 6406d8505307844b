// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace zygos::schedule {

/// Half-open range of samples of the global batch.
struct SampleRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

/// Half-open range of graph nodes.
struct NodeRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t count() const noexcept { return end - begin; }
  bool contains(std::int32_t node) const noexcept { return begin <= node && node < end; }
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};

/// Half-open range of elements of the model's flat parameter buffer.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const noexcept { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// From the first to the last of both; an empty range adds nothing.
ElementRange joined(const ElementRange& one, const ElementRange& other);

/// "3-7", as messages and printed schedules show ranges.
std::string text_of(const SampleRange& samples);
std::string text_of(const NodeRange& nodes);
std::string text_of(const ElementRange& elements);

}  // namespace zygos::schedule
