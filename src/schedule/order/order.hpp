// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

namespace zygos::schedule {

/// Sets every task's `after` from what the tasks read and write, taking the list as the order that
/// was meant: read after write, write after read, write after write. Only waits between places are
/// listed, and none that follows from another.
void derive_order(Schedule& schedule);

}  // namespace zygos::schedule
