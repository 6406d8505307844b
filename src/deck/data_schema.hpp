// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/schema.hpp"

#include <vector>

namespace zygos::deck {

/// The section `data`, one schema per format.
std::vector<Schema> data_schemas();

}  // namespace zygos::deck
