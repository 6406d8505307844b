// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/shell/command_facts.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

/// zygos(1) as troff with the macros of man(7). `deck_reference`: all keys of a deck, as
/// deck::explain() tells them. `exit_codes`: a table in plain text.
std::string man_page(const std::vector<CommandFacts>& commands, std::string_view deck_reference,
                     std::string_view exit_codes);

}  // namespace zygos::app
