// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load/onnx/model_reading.hpp"

#include <string>
#include <vector>

namespace zygos::load {

/// The layers that `last` depends on, it being the last one. An activation behind a layer that has
/// an option for it becomes that option. Layers without a name get their type and a number.
std::vector<ReadLayer> simplified(std::vector<ReadLayer> layers, std::string last,
                                  const std::vector<nn::Entry<nn::LayerPtr>>& entries);

/// What is to be said of the layers, and which of them have the same matrix in the file.
void add_notes(const std::vector<ReadLayer>& layers, std::vector<std::string>& notes);

}  // namespace zygos::load
