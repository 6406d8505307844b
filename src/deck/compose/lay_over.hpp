// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deck/read/guide.hpp"
#include "deck/read/node.hpp"

namespace zygos::deck {

/// Puts what a deck says on top of what it includes. Sections are merged key by key, anything else
/// replaces what was there; a section of another keyword (`type`) does, too, a written null takes
/// a key away, and a key drops the one that it excludes.
void lay_over(Node& included, Node own, const Guide& guide);

}  // namespace zygos::deck
