// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/samples/npy_header.hpp"

#include "zygos/io/stored_tensor.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace zygos::io {

/// Bytes of an element as stored; nothing for a type that is none of ours. Half precision counts.
std::optional<std::size_t> element_bytes(const NpyHeader& header);

/// The array behind a header, in C order, half precision widened to f32.
StoredTensor tensor_of(std::string name, const NpyHeader& header, std::vector<std::byte> elements);

}  // namespace zygos::io
