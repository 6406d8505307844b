// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/flat_ops.hpp"

#include "ops/elementwise/elementwise.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::train {

void fill_with_zeros(const lane::Execution& execution, const Tensor& tensor) {
  lane::dispatch(execution, tensor.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::fill(exec, vector_view<Exec, T>(tensor), T(0));
  });
}

void copy_into(const lane::Execution& execution, const Tensor& to, const Tensor& from) {
  lane::dispatch(execution, to.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::copy(exec, vector_view<Exec, const T>(from), vector_view<Exec, T>(to));
  });
}

void add_to(const lane::Execution& execution, const Tensor& to, const Tensor& part) {
  lane::dispatch_stored(execution, to.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::add(exec, vector_view<Exec, T>(to), vector_view<Exec, const T>(part));
  });
}

void sum_into(const lane::Execution& execution, const Tensor& to, const Tensor& a,
              const Tensor& b) {
  lane::dispatch(execution, to.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::sum(exec, vector_view<Exec, T>(to), vector_view<Exec, const T>(a),
             vector_view<Exec, const T>(b));
  });
}

void scale_by(const lane::Execution& execution, const Tensor& tensor, double factor) {
  lane::dispatch(execution, tensor.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::scale(exec, vector_view<Exec, T>(tensor), static_cast<T>(factor));
  });
}

}  // namespace zygos::train
