// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/device.hpp"

namespace zygos::lane::device {

std::unique_ptr<StreamClock> stream_clock(const Execution&) { return nullptr; }

}  // namespace zygos::lane::device
