// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"

#include <vector>

namespace zygos::deck {

/// The layers of section `model`, every copy of what is repeated written out. Reports inputs that
/// no layer before has.
std::vector<LayerSpec> layer_specs(const Section& model, Findings& findings);

}  // namespace zygos::deck
