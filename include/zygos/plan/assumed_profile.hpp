// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/plan/profile.hpp"

namespace zygos::plan {

/// A profile that nobody measured: all places equally fast, times in proportion to FLOPs and bytes.
/// It shows whether a policy that asks for a profile can run, and about how it would divide; its
/// seconds mean nothing.
Profile assumed_profile(const Problem& problem);

}  // namespace zygos::plan
