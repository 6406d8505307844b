// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/builder/stage_facts.hpp"

#include "zygos/schedule/schedule.hpp"

#include <vector>

namespace zygos::schedule {

/// What a task reads and writes on its own place, by its row in the table of kinds, in the row's
/// order. Messages, and what is read in place where no copy is made, are left out.
struct Operands {
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
};

/// Fills `operands`, whose memory is reused. Of kept versions and gathered statistics, which no
/// field of a task says, those count that `task.reads` names and that it may name.
void find_operands(const Schedule& schedule, const StageFacts& stage, const Task& task,
                   Operands& operands);

}  // namespace zygos::schedule
