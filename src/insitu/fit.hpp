// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/shape.hpp"
#include "zygos/infer/samples.hpp"

#include <cstdint>
#include <span>

namespace zygos::insitu {

/// Throws UsageError unless the Views together are `count` samples of this shape; `what` names
/// them.
void require_fit(const char* what, std::span<const infer::Samples> views, const Shape& shape,
                 std::int64_t count);

/// Samples of the first View; throws UsageError if there is none.
std::int64_t count_of(const char* what, std::span<const infer::Samples> views);

}  // namespace zygos::insitu
