// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/train/batch.hpp"

#include <cstdint>

namespace zygos::train {

/// What a schedule and its model take.
struct BatchRules {
  std::int64_t max_samples = 0;
  Shape input;   ///< of a sample
  Shape target;  ///< likewise
};

/// Throws UsageError for samples that do not fit.
void check_batch(const Batch& batch, const BatchRules& rules);

}  // namespace zygos::train
