// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace zygos::comm {

/// Looks a variable up; null where it is not set.
using Environment = std::function<const char*(const char*)>;

/// How many processes an MPI launcher started together with this one, by the variables that Open
/// MPI, MPICH and its kin, and Slurm's PMI set: 0 if none did. At least 2, if a launcher is known
/// only by this process's rank above 0.
int launched_processes(const Environment& environment);

}  // namespace zygos::comm
