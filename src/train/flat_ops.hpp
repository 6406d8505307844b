// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The few things the engine itself does with numbers, on tensors of either type as flat vectors.
#pragma once

#include "zygos/lane/execution.hpp"
#include "zygos/tensor/tensor.hpp"

namespace zygos::train {

void fill_with_zeros(const lane::Execution& execution, const Tensor& tensor);
/// to = from
void copy_into(const lane::Execution& execution, const Tensor& to, const Tensor& from);
/// to += part
void add_to(const lane::Execution& execution, const Tensor& to, const Tensor& part);
/// to = a + b; `to` may be one of them.
void sum_into(const lane::Execution& execution, const Tensor& to, const Tensor& a, const Tensor& b);
void scale_by(const lane::Execution& execution, const Tensor& tensor, double factor);

}  // namespace zygos::train
