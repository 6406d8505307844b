// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Several decks beside each other: where they differ, and what a step of each takes.
#pragma once

#include "app/command_line.hpp"
#include "app/console.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace zygos::app {

/// A key that differs between decks.
struct DeckDifference {
  std::string key;
  std::vector<std::string> values;  ///< by deck; "(absent)" where there is none
};

/// Of resolved decks, the keys of the first one first.
std::vector<DeckDifference> deck_differences(const std::vector<std::string>& resolved);

/// Times `decks` with zygos bench, a process each, in rounds (a, b, a, b, ...) so that a slow-down
/// of the machine affects all, and prints tables of times and of differences.
ExitCode compare_decks(const std::vector<std::string>& decks, const Invocation& invocation,
                       Console& console);

}  // namespace zygos::app
