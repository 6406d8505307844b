// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace zygos::app {

/// Peak of this process's resident set (VmHWM): arenas in host memory, the data set, the program
/// and its libraries. Nothing where the system does not say it.
std::optional<std::size_t> resident_peak_bytes();

}  // namespace zygos::app
