// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/trained/metrics.hpp"

#include "zygos/infer/model.hpp"

namespace zygos::app {

/// Predicts all samples, in blocks of the model.
void measure(infer::Model& model, const io::Dataset& data, Metrics& metrics);

}  // namespace zygos::app
