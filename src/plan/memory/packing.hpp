// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/happens_before.hpp"

#include <cstddef>
#include <vector>

namespace zygos::plan {

/// Sets the offsets of buffers so that two share memory only if every use of one has ended before
/// the other is first written, and returns the total bytes. First fit, in the order of the first
/// use (optimal up to fragmentation for live intervals of one queue) or of size, whichever takes
/// less.
std::size_t pack(const std::vector<PlannedBuffer*>& buffers, const schedule::HappensBefore& before);

/// One after the other, nothing shared: for memory that another place may read at any time.
std::size_t pack_apart(const std::vector<PlannedBuffer*>& buffers);

}  // namespace zygos::plan
