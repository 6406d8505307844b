// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/dtype.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <string>

namespace zygos {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Row, 8> rows{{{DType::u8, "u8", 1},
                                   {DType::i32, "i32", 4},
                                   {DType::i64, "i64", 8},
                                   {DType::u32, "u32", 4},
                                   {DType::u64, "u64", 8},
                                   {DType::f32, "f32", 4},
                                   {DType::f64, "f64", 8},
                                   {DType::bf16, "bf16", 2}}};

const Row& row_of(DType dtype) {
  for (const Row& row : rows) {
    if (row.dtype == dtype) {
      return row;
    }
  }
  throw InternalError("unknown dtype " + std::to_string(static_cast<int>(dtype)));
}

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).bytes; }

DType wide(DType dtype) { return dtype == DType::bf16 ? DType::f32 : dtype; }

std::string_view name_of(DType dtype) { return row_of(dtype).name; }

DType dtype_from_name(std::string_view name) {
  std::string known;
  for (const Row& row : rows) {
    if (row.name == name) {
      return row.dtype;
    }
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("unknown dtype '" + std::string(name) + "'; known are " + known);
}

}  // namespace zygos
