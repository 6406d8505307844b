// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/memory_plan.hpp"
#include "zygos/schedule/happens_before.hpp"

#include <cstddef>
#include <vector>

namespace zygos::plan {

/// Sets the offsets of buffers so that two share memory only if every use of one has ended before
/// the other is first written, and returns the bytes they take in all. First fit in the order of
/// the first use, which for lifetimes that are intervals of one queue is optimal up to
/// fragmentation.
std::size_t pack(const std::vector<PlannedBuffer*>& buffers, const schedule::HappensBefore& before);

/// One behind the other, nothing shared: for memory that somebody else may read at any time.
std::size_t pack_apart(const std::vector<PlannedBuffer*>& buffers);

}  // namespace zygos::plan
