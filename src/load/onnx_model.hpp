// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/standards.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/infer/weight.hpp"

#include <map>
#include <span>
#include <string>

namespace zygos::load {

/// The bytes of a model in ONNX (protobuf) that computes the prediction in evaluation mode,
/// verified by ONNX' own checker: input "input" (N, sample), output "output" (N, ...), initializers
/// by the parameters' names. Throws UsageError for layers without operators of ONNX, for models
/// above the 2 GiB that a message holds, and in a build without ONNX. `inputs` and `outputs`: what
/// samples were standardised by, which the model does and undoes itself.
std::string onnx_model_of(const graph::Graph& graph, std::span<const infer::Weight> weights,
                          const Standards& inputs, const Standards& outputs,
                          const std::map<std::string, std::string>& metadata);

}  // namespace zygos::load
