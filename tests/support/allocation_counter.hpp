// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace zygos::testing {

/// How often this process has called operator new. A test that links zygos_test_allocations has it
/// counted.
long allocations();
/// Bytes that those calls have asked for, whether they were given back or not.
std::size_t allocated_bytes();

}  // namespace zygos::testing
