// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a gated recurrent unit does to each unit at one position (Cho et al., 2014; the reset gate
// behind the product, as cuDNN and PyTorch have it), after the products with its weights:
//   r, z = sigmoid(a_r), sigmoid(a_z), a = (x_t W + b_W) + (h_(t-1) R + b_R)
//   n = tanh((x_t W_n + b_Wn) + r q), q = h_(t-1) R_n + b_Rn;  h_t = (1 - z) n + z h_(t-1)
// with gates in the order r, z, n, and h zero before the first step. In reverse, t - 1 is the
// position behind.
#pragma once

#include "ops/recurrent/dimensions.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {

template <class Exec, class T>
struct GruForward {
  RecurrentDimensions dimensions;
  VectorView<Exec, const T> product;  ///< (samples, 3 units): h_(t-1) R; not read at step 0
  VectorView<Exec, const T> bias;     ///< (3 units): b_R
  VectorView<Exec, T> gates;          ///< (samples, positions, 3 units): x W + b_W becomes r, z, n
  VectorView<Exec, T> candidates;     ///< (samples, positions, units): q
  VectorView<Exec, T> before;         ///< (samples, positions, units): h_(t-1)
  VectorView<Exec, T> hidden;         ///< (samples, units): h_t
  /// h of all positions (samples, positions, units), or of the last step alone (samples, units).
  VectorView<Exec, T> y;
};

/// One step after the other, from 0 on. Of `before` it writes the next step's row, and at step 0
/// that one's.
template <class Exec, class T>
void gru_step(const Exec& exec, const GruForward<Exec, T>& gru, std::size_t step);

template <class Exec, class T>
struct GruBackward {
  RecurrentDimensions dimensions;
  VectorView<Exec, const T> gates;       ///< as gru_step has left them
  VectorView<Exec, const T> candidates;  ///< the same
  VectorView<Exec, const T> before;      ///< the same
  VectorView<Exec, const T> d_y;         ///< in the shape of y
  VectorView<Exec, const T> d_hidden;    ///< (samples, units): d_step R^T of the step behind
  VectorView<Exec, T> carry;             ///< (samples, units): z d_h, to the step before
  VectorView<Exec, T> d_gates;           ///< (samples, positions, 3 units): of x W + b_W
  VectorView<Exec, T> d_recurrent;       ///< (samples, positions, 3 units): of h_(t-1) R + b_R
  VectorView<Exec, T> d_step;            ///< (samples, 3 units): d_recurrent of this step
};

/// One step after the other, from the last one on, where `d_hidden` and `carry` are not read.
template <class Exec, class T>
void gru_step_backward(const Exec& exec, const GruBackward<Exec, T>& gru, std::size_t step);

}  // namespace zygos::ops
