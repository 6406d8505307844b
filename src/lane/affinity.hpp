// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace zygos::lane {

/// Frees the calling thread and its OpenMP team of `threads` from OMP_PROC_BIND and OMP_PLACES.
/// Those bind the first threads of *every* team to the first places, so that two lanes would share
/// one core and leave the others idle (measured: two lanes took twice as long as one). Afterwards
/// the threads may run on any core the process was given. Does nothing without binding.
void unbind_team(int threads);

/// The calling thread and its team may run on these cores only, each on any of them. Cores that the
/// process was not given are left out; if that leaves none, nothing changes.
void bind_team(int threads, const std::vector<int>& cores);

/// Where the calling thread runs.
int this_core() noexcept;
/// The calling thread goes on at that core, if it may, and may then run where it could before.
void go_to_core(int core) noexcept;

}  // namespace zygos::lane
