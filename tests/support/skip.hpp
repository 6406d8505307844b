// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The only place where a test may be skipped (tests/style sees to it).
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <sstream>
#include <string>

namespace zygos::test {

/// Skips the running test because the machine has no `missing`; in CI (variable CI) fails it,
/// unless ZYGOS_CI_WITHOUT, words with spaces between them, says that this machine cannot have it:
/// .ci/run sets it for what nobody can install, and prints it.
inline void skip_without(const std::string& missing, const std::string& reason) {
  const char* without = std::getenv("ZYGOS_CI_WITHOUT");
  std::istringstream words(without == nullptr ? "" : without);
  bool excused = std::getenv("CI") == nullptr;
  for (std::string word; words >> word;) {
    excused = excused || word == missing;
  }
  if (!excused) {
    FAIL(reason << "; in CI every test must run (no '" << missing << "')");
  }
  SKIP(reason);
}

}  // namespace zygos::test
