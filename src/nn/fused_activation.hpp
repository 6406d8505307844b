// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What layers with a bias and a fused activation have in common.
#pragma once

#include "nn/activation_op.hpp"
#include "ops/gemm/gemm.hpp"

#include "zygos/nn/layer.hpp"
#include "zygos/tensor/views.hpp"

namespace zygos::nn {

/// The bias, if there is one, is the second parameter.
template <class Exec, class T>
ops::Epilogue<Exec, T> epilogue_of(Activation activation, bool bias, const ForwardArgs& args) {
  ops::Epilogue<Exec, T> epilogue;
  epilogue.activation = op_of(activation);
  if (bias) {
    epilogue.bias = vector_view<Exec, const Wide<T>>(args.parameters[1]);
  }
  return epilogue;
}

inline ops::Products products_of(const Context& context) {
  return context.tf32 ? ops::Products::tf32 : ops::Products::full;
}

/// The gradient before the activation: d_output itself where there is none, else in `d_z`.
template <class T, class Exec>
Tensor d_before(const Exec& exec, Activation activation, const BackwardArgs& args,
                std::size_t d_z) {
  if (activation == Activation::none) {
    return args.d_output;
  }
  const Tensor& result = args.workspace[d_z];
  ops::activate_backward(exec, op_of(activation), vector_view<Exec, const T>(args.output),
                         vector_view<Exec, const T>(args.d_output), vector_view<Exec, T>(result));
  return result;
}

}  // namespace zygos::nn
