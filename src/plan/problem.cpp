// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/problem.hpp"

#include "zygos/core/saturated.hpp"

#include <algorithm>

namespace zygos::plan {

std::int64_t Problem::unit() const {
  const std::int64_t common =
      saturated_lcm(std::max<std::int64_t>(1, chunk), model.samples_together);
  return std::min(common, std::max<std::int64_t>(1, batch));
}

std::string Problem::unit_text() const {
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
