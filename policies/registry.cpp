// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

// One line per policy a deck can name: NAME for NAME_entry() of policies/NAME.cpp.
#define ZYGOS_POLICIES(policy) policy(single) policy(coarse_split) policy(layer_placement)

namespace zygos::policies {

#define ZYGOS_DECLARE(policy) train::PolicyEntry policy##_entry();
ZYGOS_POLICIES(ZYGOS_DECLARE)
#undef ZYGOS_DECLARE

std::vector<train::PolicyEntry> registry() {
#define ZYGOS_LIST(policy) policy##_entry(),
  return {ZYGOS_POLICIES(ZYGOS_LIST)};
#undef ZYGOS_LIST
}

}  // namespace zygos::policies
