// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <string>
#include <vector>

namespace zygos::schedule {

/// "task 3 (forward@device nodes 0-3 samples 0-50)", as findings name a task.
std::string label_of(const Schedule& schedule, std::size_t task);

/// Findings about samples that some kind of task leaves out, works on twice, or invents.
std::vector<std::string> check_coverage(const Schedule& schedule);

}  // namespace zygos::schedule
