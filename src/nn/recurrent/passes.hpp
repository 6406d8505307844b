// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The products of lstm and gru. Those that no state takes part in are of all positions of all
// samples at once, whose rows lie in the order of the input; the others are of one position, of
// whose states and gradients there is a matrix (samples, ...) of their own.
#pragma once

#include "nn/fused_activation.hpp"
#include "nn/gradient_into.hpp"
#include "nn/rows_view.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/recurrent/dimensions.hpp"

#include "zygos/nn/layer.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/tensor/views.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace zygos::nn {

inline ops::RecurrentDimensions recurrent_dimensions(const Tensor& input,
                                                     const RecurrentOptions& options) {
  return {static_cast<std::size_t>(input.shape()[0]), static_cast<std::size_t>(input.shape()[1]),
          static_cast<std::size_t>(options.units), options.reverse};
}

/// What lies in workspaces of a recurrent layer for the call's samples: they have room for a whole
/// batch's.
template <class Exec, class T>
struct RecurrentSpace {
  ops::RecurrentDimensions dimensions;
  std::span<const Tensor> workspace;

  /// (samples, positions, `gates` units)
  VectorView<Exec, T> rows(std::size_t index, std::size_t gates = 1) const {
    return {workspace[index].data<T>(), dimensions.rows() * gates * dimensions.units};
  }
  MatrixView<Exec, T> matrix_of_rows(std::size_t index, std::size_t gates = 1) const {
    return {workspace[index].data<T>(), dimensions.rows(), gates * dimensions.units};
  }
  /// (samples, `gates` units)
  VectorView<Exec, T> step(std::size_t index, std::size_t gates = 1) const {
    return {workspace[index].data<T>(), dimensions.samples * gates * dimensions.units};
  }
  MatrixView<Exec, T> matrix_of_step(std::size_t index, std::size_t gates = 1) const {
    return {workspace[index].data<T>(), dimensions.samples, gates * dimensions.units};
  }
};

/// x W + b_W of all positions.
template <class Exec, class T>
void multiply_inputs(const Exec& exec, const Context& context, const ForwardArgs& args,
                     MatrixView<Exec, T> gates) {
  const ops::Epilogue<Exec, T> epilogue{vector_view<Exec, const T>(args.parameters[2])};
  ops::gemm<Exec, T>(exec, rows_view<Exec, const T>(args.inputs[0]),
                     matrix_view<Exec, const T>(args.parameters[0]), gates, epilogue,
                     products_of(context));
}

/// h R of one position.
template <class Exec, class T>
void multiply_states(const Exec& exec, const Context& context, std::span<const Tensor> parameters,
                     MatrixView<Exec, const T> hidden, MatrixView<Exec, T> product) {
  ops::gemm<Exec, T>(exec, hidden, matrix_view<Exec, const T>(parameters[1]), product, {},
                     products_of(context));
}

/// The gradient of h from that of h R, of one position.
template <class Exec, class T>
void multiply_states_backward(const Exec& exec, const Context& context,
                              std::span<const Tensor> parameters, MatrixView<Exec, const T> d_step,
                              MatrixView<Exec, T> d_hidden) {
  ops::gemm_nt<Exec, T>(exec, d_step, matrix_view<Exec, const T>(parameters[1]), d_hidden,
                        products_of(context));
}

/// compute(step) of all steps, one for each position, the first one first; before each but that
/// one, h R from the state that the step before it left.
template <class Exec, class T, class F>
void for_each_step(const Exec& exec, const Context& context, const ForwardArgs& args,
                   std::size_t steps, MatrixView<Exec, T> hidden, MatrixView<Exec, T> product,
                   const F& compute) {
  for (std::size_t step = 0; step < steps; ++step) {
    if (step > 0) {
      multiply_states<Exec, T>(exec, context, args.parameters, hidden, product);
    }
    compute(step);
  }
}

/// The same from the last one on; behind each but the first, the gradient of the state before it.
template <class Exec, class T, class F>
void for_each_step_backward(const Exec& exec, const Context& context, const BackwardArgs& args,
                            std::size_t steps, MatrixView<Exec, T> d_step,
                            MatrixView<Exec, T> d_hidden, const F& compute) {
  for (std::size_t step = steps; step-- > 0;) {
    compute(step);
    if (step > 0) {
      multiply_states_backward<Exec, T>(exec, context, args.parameters, d_step, d_hidden);
    }
  }
}

/// What is left to do once the gradients of both products are there for all positions. `before`:
/// the states that R was multiplied by.
template <class Exec, class T>
void finish_backward(const Exec& exec, const Context& context, const BackwardArgs& args,
                     MatrixView<Exec, const T> before, MatrixView<Exec, const T> d_gates,
                     MatrixView<Exec, const T> d_recurrent) {
  if (args.wants_d_parameters) {
    const ops::Into into = gradient_into(args);
    ops::gemm_tn<Exec, T>(exec, rows_view<Exec, const T>(args.inputs[0]), d_gates,
                          matrix_view<Exec, T>(args.d_parameters[0]),
                          vector_view<Exec, T>(args.d_parameters[2]), into, products_of(context));
    ops::gemm_tn<Exec, T>(exec, before, d_recurrent, matrix_view<Exec, T>(args.d_parameters[1]),
                          vector_view<Exec, T>(args.d_parameters[3]), into, products_of(context));
  }
  if (args.d_inputs[0]) {
    ops::gemm_nt<Exec, T>(exec, d_gates, matrix_view<Exec, const T>(args.parameters[0]),
                          rows_view<Exec, T>(args.d_inputs[0]), products_of(context));
  }
}

/// Whether anybody reads what a backward pass computes.
inline bool wants_backward(const BackwardArgs& args) {
  return args.wants_d_parameters || static_cast<bool>(args.d_inputs[0]);
}

}  // namespace zygos::nn
