// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/elementwise/activation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <string>
#include <string_view>

namespace zygos::nn {

/// The kernels' name of an activation: they lie below this module and can't know its enumeration.
constexpr ops::Activation op_of(Activation which) {
  switch (which) {
    case Activation::none:
      return ops::Activation::none;
    case Activation::relu:
      return ops::Activation::relu;
    case Activation::tanh:
      return ops::Activation::tanh;
    case Activation::sigmoid:
      return ops::Activation::sigmoid;
    case Activation::gelu:
      return ops::Activation::gelu;
  }
  return ops::Activation::none;
}

/// Deck keyword.
constexpr std::string_view name_of(Activation which) {
  switch (which) {
    case Activation::none:
      return "none";
    case Activation::relu:
      return "relu";
    case Activation::tanh:
      return "tanh";
    case Activation::sigmoid:
      return "sigmoid";
    case Activation::gelu:
      return "gelu";
  }
  return "none";
}

/// Inverse of name_of; throws UsageError for an unknown name.
inline Activation activation_named(std::string_view name) {
  for (const Activation which : {Activation::none, Activation::relu, Activation::tanh,
                                 Activation::sigmoid, Activation::gelu}) {
    if (name == name_of(which)) {
      return which;
    }
  }
  throw UsageError("activation is '" + std::string(name) +
                   "'; allowed are none, relu, tanh, sigmoid and gelu");
}

}  // namespace zygos::nn
