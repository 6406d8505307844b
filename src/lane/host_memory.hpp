// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Host memory of lanes. Not a Kokkos View, because freeing one of those fences every instance of
// every lane ("HostSpace::impl_deallocate before free"); Kokkos Tools sees the block all the same.
#pragma once

#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <string>

namespace zygos::lane {

/// Page-aligned host memory; blocks of several MiB ask for huge pages. Throws MemoryError.
memory::Block allocate_host(std::size_t bytes, const std::string& label);

/// Copies within host memory and tells Kokkos Tools about it under `label`.
void copy_host(void* to, const void* from, std::size_t bytes, const std::string& label);

}  // namespace zygos::lane
