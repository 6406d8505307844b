// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/device.hpp"

#include "zygos/core/error.hpp"

namespace zygos::lane::device {

bool can_record() { return false; }

std::unique_ptr<Recording> record(const Execution&, const std::function<void()>&) {
  throw InternalError("this build has no graphs of a device");
}

}  // namespace zygos::lane::device
