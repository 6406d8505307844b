// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

namespace zygos::policies {

#define ZYGOS_POLICY(name) train::PolicyEntry name##_entry();
#include "registry.inc"
#undef ZYGOS_POLICY

std::vector<train::PolicyEntry> registry() {
  return {
#define ZYGOS_POLICY(name) name##_entry(),
#include "registry.inc"
#undef ZYGOS_POLICY
  };
}

}  // namespace zygos::policies
