// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The devices of this machine, from the vendor's runtime.
#pragma once

#include <string>

namespace zygos::lane::device {

struct Probe {
  int count = 0;
  std::string error;  ///< of the runtime, where count is 0
};
Probe probe();

}  // namespace zygos::lane::device
