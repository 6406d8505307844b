// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/standards.hpp"
#include "zygos/io/dataset.hpp"

#include <cstdint>

namespace zygos::io {

enum class Normalisation : std::uint8_t {
  standard,  ///< mean 0 and standard deviation 1
  minmax     ///< from 0 to 1
};

/// Of all samples of a set, by column (see Standards), in double and in the samples' order, so that
/// the same data have the same bits. A column whose numbers are all equal has the scale 1. Inputs
/// count as a model sees them, value * scale + offset. Samples that are not in memory are read
/// once.
Standards input_standards(const Dataset& data, Normalisation how);
/// Of targets that are numbers.
Standards target_standards(const Dataset& data, Normalisation how);

}  // namespace zygos::io
