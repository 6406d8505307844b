// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace zygos::load {

/// Natural order of names: as the alphabet, but whole numbers in them by value, "2.w" before
/// "10.w".
bool natural_less(std::string_view one, std::string_view other);

}  // namespace zygos::load
