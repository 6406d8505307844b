// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What decides whether a step is applied.
#pragma once

#include "zygos/lane/execution.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>

namespace zygos::insitu {

/// In memory of the host that kernels reach: read without a copy once the instance has done its
/// work.
struct Verdict {
  double loss = 0.0;     ///< sum over the samples of a batch
  std::int32_t bad = 0;  ///< a value that is not finite was met
};

/// Sets `bad` (1) to 1 if an element of the tensor, of floating-point numbers, is not finite.
void find_not_finite(const lane::Execution& execution, const Tensor& tensor, std::int32_t* bad);

/// Tells the host what `totals` (of nn::LossArgs) and `bad` say, and sets `bad` to 0. Without
/// totals the loss is 0.
void tell(const lane::Execution& execution, const Tensor& totals, std::int32_t* bad,
          Verdict* verdict);

}  // namespace zygos::insitu
