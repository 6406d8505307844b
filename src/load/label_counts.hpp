// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <vector>

namespace zygos::load {

/// (data.classes) how many labels each class has, without ignored ones. Reads all samples where
/// they are not in memory. Throws UsageError where targets are numbers.
std::vector<std::int64_t> label_counts(const io::Dataset& data);

}  // namespace zygos::load
