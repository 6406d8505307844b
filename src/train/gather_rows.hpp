// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batching.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>
#include <span>

namespace zygos::train {

/// Rows `ids` into host memory as the tensor's element type (labels for i32, numbers otherwise) by
/// all threads of a host lane's instance, by the calling thread for other lanes. Throws as
/// io::gather does.
void gather_rows(const lane::Lane& lane, const io::Rows& rows, std::span<const std::uint32_t> ids,
                 const Tensor& out);

}  // namespace zygos::train
