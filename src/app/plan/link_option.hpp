// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane.hpp"

#include <optional>
#include <string>

namespace zygos::app {

/// "12 GB/s,5us" as bandwidth and latency; nothing for an empty text. Throws UsageError.
std::optional<lane::Link> link_from(const std::string& text);

}  // namespace zygos::app
