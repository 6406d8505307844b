// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/tensor.hpp"

namespace zygos::train {

/// Of numbers (f64, f32 or bf16) in host memory: none is a NaN or an infinity.
bool all_finite(const Tensor& host);

}  // namespace zygos::train
