// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load/onnx/model_file.hpp"

namespace zygos::load {

/// The same model in which operators of both directions are one of each, with halves of the
/// weights, and others that put their results together: Zygos has layers of one direction.
OnnxFile with_directions_apart(OnnxFile file);

}  // namespace zygos::load
