// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"

namespace zygos::deck {

/// The deck's section `model`: layers, loss, and weights to begin with.
Schema model_schema(const RunTables& tables);

}  // namespace zygos::deck
