// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// For policies that are data_parallel() by another name.
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/policies/policies.hpp"
#include "zygos/schedule/schedule.hpp"

#include <string>

namespace zygos::policies {

/// What data_parallel() makes, named after `policy`. Place `first` comes before the other workers:
/// with central exchange it is the one that updates.
schedule::Schedule data_parallel_schedule(const std::string& policy, const plan::Problem& problem,
                                          DataParallelOptions options, schedule::Place first = 0);

}  // namespace zygos::policies
