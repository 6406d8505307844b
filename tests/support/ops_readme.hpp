// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace zygos::testing {

/// The text of src/ops/README.md; tests run in the root of the source tree.
inline std::string ops_readme() {
  std::ifstream in("src/ops/README.md");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace zygos::testing
