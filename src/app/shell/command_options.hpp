// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands of the program with their arguments and options, as CLI11 has them.
#pragma once

#include "app/command_line.hpp"

#include <string_view>

namespace CLI {
class App;
}

namespace zygos::app {

/// The table below every help.
std::string_view exit_codes_text();

/// Adds every command to `app`. What is parsed is written to `to`, which must outlive it.
void describe_commands(CLI::App& app, Invocation& to);

}  // namespace zygos::app
