// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schedule/stage_facts.hpp"

#include "zygos/schedule/schedule.hpp"

#include <vector>

namespace zygos::schedule {

/// What a task has to read and write on its own place, by what it is. Messages, and what is read
/// where they are no copies, are left out. Written apart from the builder, so that each checks the
/// other.
struct ExpectedBuffers {
  std::vector<Buffer> reads;
  std::vector<Buffer> writes;
  bool known = true;  ///< false for fetch: where weights are kept is the policy's to say
};

/// Fills `expected`, whose memory is used again.
void find_expected(const Schedule& schedule, const StageFacts& stage, const Task& task,
                   ExpectedBuffers& expected);

}  // namespace zygos::schedule
