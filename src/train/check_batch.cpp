// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/check_batch.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <string>

namespace zygos::train {

void check_batch(const Batch& batch, const BatchRules& rules) {
  if (batch.samples() < 1 || batch.samples() > rules.max_samples) {
    throw UsageError("a batch of " + std::to_string(batch.samples()) +
                     " samples was given; this schedule takes 1 to " +
                     std::to_string(rules.max_samples));
  }
  const std::int64_t features = rules.input.size();
  if (batch.inputs.row_elements != features) {
    throw UsageError("samples have " + std::to_string(batch.inputs.row_elements) +
                     " values each; the model takes " + std::to_string(features) + " " +
                     rules.input.text());
  }
  if (batch.targets.row_elements != rules.target.size()) {
    throw UsageError("targets have " + std::to_string(batch.targets.row_elements) +
                     " values each; the model's loss takes " + std::to_string(rules.target.size()));
  }
  if (!batch.rows.empty() && batch.rows.size() != batch.ids.size()) {
    throw UsageError(std::to_string(batch.rows.size()) + " rows were given for " +
                     std::to_string(batch.ids.size()) + " samples; give one for each, or none");
  }
  const auto largest = static_cast<std::int64_t>(*std::ranges::max_element(batch.places()));
  if (largest >= batch.inputs.samples || largest >= batch.targets.samples) {
    throw UsageError("sample id " + std::to_string(largest) + " is not below the " +
                     std::to_string(std::min(batch.inputs.samples, batch.targets.samples)) +
                     " samples there are");
  }
}

}  // namespace zygos::train
