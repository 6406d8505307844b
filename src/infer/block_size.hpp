// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/graph/graph.hpp"

#include <cstdint>

namespace zygos::infer {

/// Samples that go through the layers at once unless the caller says otherwise, a power of two.
std::int64_t block_size(const graph::Graph& graph, DType dtype);

}  // namespace zygos::infer
