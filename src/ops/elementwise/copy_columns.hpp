// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {

/// to(i, first_to + j) = from(i, first_from + j) for all rows i and j < columns.
template <class Exec, class T>
void copy_columns(const Exec& exec, MatrixView<Exec, const T> from, std::size_t first_from,
                  MatrixView<Exec, T> to, std::size_t first_to, std::size_t columns);

}  // namespace zygos::ops
