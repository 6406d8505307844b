// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>

namespace zygos::io {

struct SplitDataset {
  Dataset training;
  Dataset validation;
};

/// Splits a share of the samples off, at least one and not all. Which ones is a pure function of
/// seed, share and the number of samples; both parts keep the order of the whole. Samples in memory
/// are copied, others stay in their file. Throws UsageError for a share outside of (0, 1),
/// DataError for fewer than two samples.
SplitDataset split(const Dataset& data, double share, std::uint64_t seed);

}  // namespace zygos::io
