// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden schedules: the whole text of what a policy makes, in tests/policies/golden/. After a
// change that is meant, look at the text the failed check shows and put it into the file.
#pragma once

#include "zygos/plan/problem.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace zygos::test {

inline std::string golden(const std::string& name) {
  const std::string path = "tests/policies/golden/" + name + ".txt";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(path + " can't be read; tests run in the root of the source tree");
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A host and a device with its own memory, a batch of 100 and a model of three nodes.
inline plan::Problem host_and_device() {
  return {{{"host", lane::Kind::host, true}, {"device", lane::Kind::emulated, false}}, 100, 3};
}

}  // namespace zygos::test
