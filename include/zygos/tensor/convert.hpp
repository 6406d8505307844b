// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers in host memory, from one element type to another.
#pragma once

#include "zygos/core/dtype.hpp"

#include <cstdint>
#include <optional>

namespace zygos {

/// f32, f64 or bf16.
bool is_floating_point(DType dtype);

/// to[i] = from[i], rounded once; `to` is overwritten. Both types are floating-point (UsageError).
void convert_elements(DType from_type, const void* from, DType to_type, void* to,
                      std::int64_t count);

/// Index of the first NaN or infinity among floating-point elements, if there is one.
std::optional<std::int64_t> first_not_finite(DType dtype, const void* elements, std::int64_t count);

}  // namespace zygos
