// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::lane {

/// An instance of any execution space this build has. Declared here without Kokkos, so that files
/// that only pass one on need none of its headers; "zygos/lane/spaces.hpp" defines it, for files
/// that make one or launch kernels.
class Execution;

}  // namespace zygos::lane
