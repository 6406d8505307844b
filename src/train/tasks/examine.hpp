// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A step whose loss is not finite is gone through once more, with a look at every layer's output.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/tensor/tensor.hpp"

namespace zygos::train {

struct PlaceState;

/// Notes the node if it is the place's first whose output is not finite.
void examine(PlaceState& state, graph::NodeId node, const Tensor& output);

}  // namespace zygos::train
