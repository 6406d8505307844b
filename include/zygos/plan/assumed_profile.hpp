// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"

namespace zygos::plan {

/// A profile that nobody measured: all places equally fast, times in proportion to FLOPs and bytes.
/// It shows whether a policy that asks for a profile can run, and about how it would divide; its
/// seconds mean nothing, but for files where the rate of the disk is given.
Profile assumed_profile(const Problem& problem, double disk_bytes_per_second = 0.0);

/// Adds to places of a measured profile what it takes to write files and read them, where nothing
/// was measured: by the disk's bytes a second; 0: assumed, unless something alike was measured.
void assume_file_costs(Profile& profile, double disk_bytes_per_second);

}  // namespace zygos::plan
