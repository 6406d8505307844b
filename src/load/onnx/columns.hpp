// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Features of several dense layers as one dense layer: Zygos' attention reads queries, keys and
// values side by side, which other programs compute by layers of their own, or in another order.
#pragma once

#include "load/onnx/model_reading.hpp"

#include <optional>
#include <span>
#include <vector>

namespace zygos::load {

/// The dense layer whose vectors have these features of `layers`, by columns of their weights. It
/// is called after them, or nothing where one has no name. Nothing unless all are dense layers of
/// one input that multiply vector by vector.
std::optional<ReadLayer> dense_with_columns(const std::vector<ReadLayer>& layers,
                                            std::span<const nn::OnnxColumn> columns);

}  // namespace zygos::load
