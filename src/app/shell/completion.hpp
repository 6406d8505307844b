// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/shell/command_facts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

/// A script that completes commands, options, their words and file names in "bash", "zsh" or
/// "fish".
std::string completion_script(std::string_view shell, const std::vector<CommandFacts>& commands);

}  // namespace zygos::app
