// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/tensor.hpp"

#include <Kokkos_Core.hpp>

namespace zygos {

template <class Exec, class T>
using VectorView = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Exec, class T>
using MatrixView = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// All elements of a tensor as one vector.
template <class Exec, class T>
VectorView<Exec, T> vector_view(const Tensor& tensor) {
  return {tensor.data<T>(), static_cast<std::size_t>(tensor.size())};
}

/// A tensor as a matrix, everything after the first extent flattened.
template <class Exec, class T>
MatrixView<Exec, T> matrix_view(const Tensor& tensor) {
  const auto [rows, columns] = as_matrix(tensor.shape());
  return {tensor.data<T>(), static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
}

}  // namespace zygos
