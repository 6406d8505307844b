// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zygos::lane::device {

/// Kokkos initialises every space it was built with, and aborts where a device's runtime finds
/// none. Before Kokkos::initialize this replaces the entry of a space ("Cuda") in Kokkos' table of
/// spaces by one that does nothing: host spaces work as ever, and no instance of the device's space
/// may be made.
void leave_space_uninitialised(const std::string& name);

}  // namespace zygos::lane::device
