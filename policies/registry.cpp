// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policy_files.hpp"

namespace zygos::policies {

std::vector<train::PolicyEntry> registry() {
  return {
      single_entry(),
      coarse_split_entry(),
  };
}

}  // namespace zygos::policies
