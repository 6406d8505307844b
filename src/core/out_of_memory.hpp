// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace zygos {

/// Whether an exception that is none of ours tells of memory: Kokkos reports a failed allocation as
/// std::runtime_error with these words.
inline bool tells_of_memory(std::string_view message) {
  return message.find("failed to allocate") != std::string_view::npos ||
         message.find("out of memory") != std::string_view::npos;
}

}  // namespace zygos
