// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/bf16.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zygos {

/// Element type of a tensor or of a stored array.
enum class DType : std::uint8_t { u8, i32, i64, u32, u64, f32, f64, bf16 };

/// Bytes of one element.
std::size_t size_of(DType dtype);

/// Short stable name as written into checkpoints: "u8", "i32", ..., "f64", "bf16".
std::string_view name_of(DType dtype);

/// See Wide: the type of the parameters of a model whose activations are stored as `dtype`.
DType wide(DType dtype);

/// Inverse of name_of; throws UsageError that lists the known names.
DType dtype_from_name(std::string_view name);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::u32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::u64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::bf16;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace zygos
