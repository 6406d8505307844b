// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/lane.hpp"

namespace zygos::lane {

/// Throws UsageError unless Kokkos is initialised: whoever owns main() does that.
void require_kokkos();

/// Throws UsageError for values that no build or machine can serve.
void check_spec(const LaneSpec& spec);

}  // namespace zygos::lane
