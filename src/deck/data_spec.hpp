// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"

namespace zygos::deck {

/// What a deck's section `data` says.
DataSpec data_of(const Section& section);

}  // namespace zygos::deck
