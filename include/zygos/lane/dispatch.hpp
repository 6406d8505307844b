// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/error.hpp"
#include "zygos/lane/spaces.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace zygos::lane {

/// Calls `f(exec)` with the concrete execution-space instance. Happens once per task: everything
/// above is ordinary compiled C++, everything below is a template on the space.
template <class F>
decltype(auto) dispatch(const Execution& execution, F&& f) {
  return std::visit(std::forward<F>(f), execution);
}

/// Calls `f(exec, std::type_identity<T>{})` with T = float or double. Throws UsageError for any
/// other dtype: this is for parameters, and for layers that have no bf16.
template <class F>
void dispatch(const Execution& execution, DType dtype, F&& f) {
  std::visit(
      [&](const auto& exec) {
        if (dtype == DType::f32) {
          f(exec, std::type_identity<float>{});
        } else if (dtype == DType::f64) {
          f(exec, std::type_identity<double>{});
        } else {
          throw UsageError("arithmetic needs f32 or f64, got " + std::string(name_of(dtype)));
        }
      },
      execution);
}

/// The same for activations, which may be bf16, too: `f` loads them as they are stored, computes in
/// Wide<T>, and rounds what it stores.
template <class F>
void dispatch_stored(const Execution& execution, DType dtype, F&& f) {
  if (dtype != DType::bf16) {
    return dispatch(execution, dtype, f);
  }
  std::visit([&](const auto& exec) { f(exec, std::type_identity<bf16>{}); }, execution);
}

}  // namespace zygos::lane
