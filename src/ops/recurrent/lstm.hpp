// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a long short-term memory does to each unit at one position (Hochreiter and Schmidhuber,
// 1997; Gers, Schmidhuber and Cummins, 2000), after the products with its weights:
//   i, f, o = sigmoid(a_i), sigmoid(a_f), sigmoid(a_o);  g = tanh(a_g)
//   c_t = f c_(t-1) + i g;  h_t = o tanh(c_t)
// with a = (x_t W + b_W) + (h_(t-1) R + b_R), gates in the order i, f, g, o, and h and c zero
// before the first step. In reverse, t - 1 is the position behind.
#pragma once

#include "ops/recurrent/dimensions.hpp"

#include "zygos/tensor/views.hpp"

#include <cstddef>

namespace zygos::ops {

template <class Exec, class T>
struct LstmForward {
  RecurrentDimensions dimensions;
  VectorView<Exec, const T> product;  ///< (samples, 4 units): h_(t-1) R; not read at step 0
  VectorView<Exec, const T> bias;     ///< (4 units): b_R
  VectorView<Exec, T> gates;   ///< (samples, positions, 4 units): x W + b_W becomes i, f, g, o
  VectorView<Exec, T> cells;   ///< (samples, positions, units): c
  VectorView<Exec, T> before;  ///< (samples, positions, units): h_(t-1)
  VectorView<Exec, T> hidden;  ///< (samples, units): h_t
  /// h of all positions (samples, positions, units), or of the last step alone (samples, units).
  VectorView<Exec, T> y;
};

/// One step after the other, from 0 on. Of `before` it writes the next step's row, and at step 0
/// that one's.
template <class Exec, class T>
void lstm_step(const Exec& exec, const LstmForward<Exec, T>& lstm, std::size_t step);

template <class Exec, class T>
struct LstmBackward {
  RecurrentDimensions dimensions;
  VectorView<Exec, const T> gates;     ///< as lstm_step has left them
  VectorView<Exec, const T> cells;     ///< the same
  VectorView<Exec, const T> d_y;       ///< in the shape of y
  VectorView<Exec, const T> d_hidden;  ///< (samples, units): d_step R^T of the step behind
  VectorView<Exec, T> carry;           ///< (samples, units): d_c on its way to the step before
  VectorView<Exec, T> d_gates;         ///< (samples, positions, 4 units): d_a
  VectorView<Exec, T> d_step;          ///< (samples, 4 units): d_a of this step
};

/// One step after the other, from the last one on, where `d_hidden` and `carry` are not read.
template <class Exec, class T>
void lstm_step_backward(const Exec& exec, const LstmBackward<Exec, T>& lstm, std::size_t step);

}  // namespace zygos::ops
