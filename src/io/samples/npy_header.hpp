// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The header in front of an array in NumPy's format
// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace zygos::io {

struct NpyHeader {
  std::string type;            ///< as the file has it: "<f4"
  std::optional<DType> dtype;  ///< none: elements of no type of ours
  bool fortran_order = false;
  Shape shape;
};

/// NumPy's name for half precision, little endian.
inline constexpr std::string_view npy_half = "<f2";

/// Versions 1 to 3, little endian. `take` returns the next bytes of the file, or fewer at its end.
/// Throws DataError that begins with `name`.
NpyHeader read_npy_header(const std::string& name,
                          const std::function<std::string(std::size_t)>& take);

/// Of an array in C order, padded so that elements behind it are aligned to 64 bytes. Throws
/// UsageError for a type that NumPy does not have (bf16).
std::string npy_header(DType dtype, const Shape& shape);

}  // namespace zygos::io
