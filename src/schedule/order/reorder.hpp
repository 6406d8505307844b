// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/task.hpp"

#include <vector>

namespace zygos::schedule {

/// The tasks in an order in which they can run one by one, as near to the list's as can be. What a
/// task reads is what the list says, with two exceptions: statistics may be gathered later in the
/// list than they are read, and backward passes over different nodes leave each other's gradients
/// alone. Empty if there is no such order.
std::vector<Task> reordered(const std::vector<Task>& tasks);

}  // namespace zygos::schedule
