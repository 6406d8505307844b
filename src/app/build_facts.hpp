// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zygos::app {

/// Name and value of everything a bug report needs: versions of libraries, processor, memory.
using Facts = std::vector<std::pair<std::string, std::string>>;

std::string zygos_version();
std::string kokkos_version();
/// Versions of Zygos, Kokkos, HDF5 and the compiler.
Facts version_facts();
/// Processor, cores this process may use, memory.
Facts machine_facts();

}  // namespace zygos::app
