// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

namespace zygos::nn {

/// A tensor as a matrix whose rows are the vectors along its last extent.
template <class Exec, class T>
MatrixView<Exec, T> rows_view(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const auto width = static_cast<std::size_t>(shape[shape.rank() - 1]);
  return {tensor.data<T>(), static_cast<std::size_t>(shape.size()) / width, width};
}

}  // namespace zygos::nn
