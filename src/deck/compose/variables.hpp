// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `variables: {width: 128}` and ${width} in scalars. A scalar that is nothing but ${width} takes
// the variable's value as it stands, its type included; elsewhere the value's text is inserted. $${
// is a plain ${.
#pragma once

#include "deck/read/node.hpp"

#include "zygos/deck/findings.hpp"
#include "zygos/deck/schema.hpp"

#include <string>
#include <string_view>

namespace zygos::deck {

/// Takes `variables` out of the root and puts their values in. Without such a key in the schema
/// nothing is done.
void put_in_variables(Node& root, const Schema& schema, Findings& findings);

/// The text of a scalar that reads as `text`: with every ${ written as $${.
std::string without_variables(std::string_view text);

}  // namespace zygos::deck
