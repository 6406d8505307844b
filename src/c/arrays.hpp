// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What callers say of their memory, checked, in the words of the library.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/infer/model.hpp"
#include "zygos/zygos.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace zygos::c {

/// `what` is the name of the argument in messages. All throw UsageError.
DType dtype_of(std::int32_t type, const std::string& what);
zygos_type type_of(DType dtype) noexcept;

Shape shape_of(std::int32_t rank, const std::int64_t* dimensions, const std::string& what);

infer::Samples samples_of(const zygos_array& array, const std::string& what);
/// Replaces `samples`, in whose memory there is room the next time.
void put_samples(std::span<const zygos_array> arrays, const std::string& what,
                 std::vector<infer::Samples>& samples);

std::vector<infer::Weight> weights_of(const zygos_weight* weights, std::int64_t count);

}  // namespace zygos::c
