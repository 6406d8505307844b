// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/label_counts.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batching.hpp"
#include "zygos/io/sample_source.hpp"

#include <algorithm>
#include <string>

namespace zygos::load {
namespace {

constexpr std::int64_t block = 4096;  ///< samples that are in memory at a time

}  // namespace

std::vector<std::int64_t> label_counts(const io::Dataset& data) {
  if (data.classes < 1) {
    throw UsageError("'" + data.name + "' has numbers as targets, not labels to count");
  }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.classes), 0);
  std::vector<std::int32_t> labels;
  for (std::int64_t first = 0; first < data.size(); first += block) {
    const io::Dataset part =
        io::samples_in_memory(data, first, std::min(block, data.size() - first));
    labels.resize(static_cast<std::size_t>(part.targets.shape.size()));
    io::gather_labels(part, io::first_ids(part.size()), labels.data());
    for (const std::int32_t label : labels) {
      if (label >= 0) {
        ++counts.at(static_cast<std::size_t>(label));
      }
    }
  }
  return counts;
}

}  // namespace zygos::load
