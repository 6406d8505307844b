// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/convert.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace zygos {
namespace {

/// Calls f with a value of the type that `dtype` stands for.
template <class F>
auto with_floating_point(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::bf16:
      return f(bf16{});
    default:
      throw UsageError("elements are of type " + std::string(name_of(dtype)) +
                       "; allowed are f32, f64 and bf16");
  }
}

}  // namespace

bool is_floating_point(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16;
}

void convert_elements(DType from_type, const void* from, DType to_type, void* to,
                      std::int64_t count) {
  with_floating_point(from_type, [&](auto from_tag) {
    with_floating_point(to_type, [&](auto to_tag) {
      using From = decltype(from_tag);
      using To = decltype(to_tag);
      const auto* source = static_cast<const From*>(from);
      auto* target = static_cast<To*>(to);
      for (std::int64_t i = 0; i < count; ++i) {
        target[i] = static_cast<To>(static_cast<Wide<From>>(source[i]));
      }
    });
  });
}

std::optional<std::int64_t> first_not_finite(DType dtype, const void* elements,
                                             std::int64_t count) {
  return with_floating_point(dtype, [&](auto tag) -> std::optional<std::int64_t> {
    using Element = decltype(tag);
    const std::span values(static_cast<const Element*>(elements), static_cast<std::size_t>(count));
    const auto bad = std::ranges::find_if(
        values, [](Element value) { return !std::isfinite(static_cast<Wide<Element>>(value)); });
    return bad == values.end() ? std::nullopt : std::optional(bad - values.begin());
  });
}

}  // namespace zygos
