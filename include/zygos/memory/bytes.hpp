// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace zygos::memory {

/// For people: "0 B", "1000 B", "1.5 KiB", "64.0 MiB", "2.25 GiB".
std::string text_of_bytes(std::size_t bytes);

}  // namespace zygos::memory
