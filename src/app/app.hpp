// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::app {

/// The whole program: parses, runs the command, prints what went wrong, returns the exit code.
int run(int argc, const char* const* argv) noexcept;

}  // namespace zygos::app
