// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuzz/fuzz_target.hpp"

#include <map>
#include <string>

namespace zygos::fuzz {

using Target = void (*)(Bytes);

/// Those of this build, by name.
std::map<std::string, Target> all_targets();

}  // namespace zygos::fuzz
