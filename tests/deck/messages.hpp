// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings as a test likes to read them: "line:column message; hint".
#pragma once

#include "zygos/deck/deck.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace zygos::test {

inline std::vector<std::string> lines_of(const deck::DeckError& error) {
  std::vector<std::string> lines;
  for (const deck::Finding& finding : error.findings()) {
    const std::string hint = finding.hint.empty() ? "" : "; " + finding.hint;
    lines.push_back(std::to_string(finding.position.line) + ":" +
                    std::to_string(finding.position.column) + " " + finding.message + hint);
  }
  return lines;
}

/// What checking this text finds; empty if it is accepted.
inline std::vector<std::string> findings_of(std::string_view text, const deck::Schema& schema,
                                            const std::vector<std::string>& overrides = {}) {
  try {
    deck::Deck::parse(text, "deck.yaml", schema, overrides);
  } catch (const deck::DeckError& error) {
    return lines_of(error);
  }
  return {};
}

using Lines = std::vector<std::string>;

}  // namespace zygos::test
