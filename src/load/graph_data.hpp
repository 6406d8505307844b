// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/load/data.hpp"

namespace zygos::load {

bool samples_are_graphs(const deck::DataSpec& spec);

/// load_data() of the formats that are graphs, whose file is there.
RunData load_graph(const deck::DataSpec& spec);

}  // namespace zygos::load
