// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/problem.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::plan {

std::int64_t Problem::unit() const {
  const std::int64_t unit = std::lcm(std::max<std::int64_t>(1, chunk), model.samples_together);
  return unit == 0 ? std::max<std::int64_t>(1, batch) : unit;
}

std::string Problem::unit_text() const {
  if (model.samples_together == 0) {
    return " (a layer takes its statistics over all samples of a batch: give it 'group' for "
           "statistics of so many, or 'deferred')";
  }
  std::string text;
  if (model.samples_together > 1) {
    text += " (layers take statistics of " + std::to_string(model.samples_together) +
            " samples together)";
  }
  if (chunk > 0) {
    text += " (strict mode: in chunks of " + std::to_string(chunk) + ")";
  }
  return text;
}

}  // namespace zygos::plan
