// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/value_data.hpp"

#include "zygos/deck/findings.hpp"

#include <string>
#include <string_view>

namespace zygos::deck {

/// YAML of a checked deck with the origin of each value as a comment; `files` knows their names.
std::string resolved_text(const detail::Value& root, const Findings& files);

/// A text as YAML: plain where every reader takes it for a text, else in double quotes.
std::string yaml_scalar(std::string_view text);

}  // namespace zygos::deck
