// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages of one bit an element (zygos/core/one_bit.hpp), of vectors that in every block are plus
// or minus one magnitude, as compression leaves them: encoding loses nothing. The signs are packed
// eight to a byte, the first in the lowest bit. T is float or double.
#pragma once

#include "zygos/core/one_bit.hpp"
#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// message = signs and magnitudes of x; of one_bit_bytes().
template <class Exec, class T>
void encode_one_bit(const Exec& exec, VectorView<Exec, const T> x,
                    VectorView<Exec, std::uint8_t> message);

/// y = message
template <class Exec, class T>
void decode_one_bit(const Exec& exec, VectorView<Exec, const std::uint8_t> message,
                    VectorView<Exec, T> y);

/// y = a + message; y may be a.
template <class Exec, class T>
void add_one_bit(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
                 VectorView<Exec, const std::uint8_t> message);

}  // namespace zygos::ops
