// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zygos::testing {

/// How often this process has called operator new. A test that links zygos_test_allocations has it
/// counted.
long allocations();

}  // namespace zygos::testing
