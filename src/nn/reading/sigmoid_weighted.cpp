// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/sigmoid_weighted.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

/// Factors of a product of products, the constant ones as one.
struct Factors {
  double scale = 1.0;
  std::vector<std::string> tensors{};
};

void add_factors(OnnxSource& source, const OnnxOperator& product, Factors& to) {
  for (const std::string& input : product.inputs) {
    if (const auto scalar = onnx_scalar(source, input)) {
      to.scale *= *scalar;
    } else if (const OnnxOperator* inner = source.inner(input, "Mul")) {
      add_factors(source, *inner, to);
    } else {
      to.tensors.push_back(input);
    }
  }
}

bool is_about(std::optional<double> value, double expected) {
  return value && std::abs(*value - expected) < 1e-6;
}

/// Whether the tensor is erf(x / sqrt(2)).
bool is_error_function(OnnxSource& source, const std::string& tensor, const std::string& x) {
  const OnnxOperator* erf = source.inner(tensor, "Erf");
  if (erf == nullptr) {
    return false;
  }
  if (const OnnxOperator* quotient = source.inner(erf->input(0), "Div")) {
    return quotient->input(0) == x &&
           is_about(onnx_scalar(source, quotient->input(1)), std::numbers::sqrt2);
  }
  const OnnxOperator* product = source.inner(erf->input(0), "Mul");
  const auto scaled = product != nullptr ? onnx_with_constant(source, *product) : std::nullopt;
  return scaled && scaled->computed == x && scaled->constant->shape.size() == 1 &&
         is_about(scaled->constant->numbers().front(), 1.0 / std::numbers::sqrt2);
}

/// Coefficients by power of x, up to the third.
using Polynomial = std::array<double, 4>;

std::optional<Polynomial> product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial product{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      const double term = a[i] * b[j];
      if (i + j < product.size()) {
        product[i + j] += term;
      } else if (term != 0.0) {
        return std::nullopt;
      }
    }
  }
  return product;
}

/// The tensor as a polynomial of x; nothing if it is none. `depth` bounds the operators between.
std::optional<Polynomial> polynomial_of(OnnxSource& source, const std::string& tensor,
                                        const std::string& x, int depth) {
  if (tensor == x) {
    return Polynomial{0.0, 1.0, 0.0, 0.0};
  }
  if (const auto scalar = onnx_scalar(source, tensor)) {
    return Polynomial{*scalar, 0.0, 0.0, 0.0};
  }
  const OnnxOperator* op = depth > 0 ? source.maker(tensor) : nullptr;
  if (op == nullptr || op->inputs.size() != 2) {
    return std::nullopt;
  }
  const auto left = polynomial_of(source, op->inputs[0], x, depth - 1);
  const auto right = left ? polynomial_of(source, op->inputs[1], x, depth - 1) : std::nullopt;
  if (!right) {
    return std::nullopt;
  }
  if (op->type == "Mul") {
    return product_of(*left, *right);
  }
  if (op->type == "Add") {
    Polynomial sum = *left;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += (*right)[i];
    }
    return sum;
  }
  if (op->type != "Pow" || (*right != Polynomial{2.0} && *right != Polynomial{3.0})) {
    return std::nullopt;
  }
  const auto square = product_of(*left, *left);
  return (*right)[0] == 2.0 || !square ? square : product_of(*square, *left);
}

/// Whether the tensor is tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
bool is_tanh_of_cubic(OnnxSource& source, const std::string& tensor, const std::string& x) {
  constexpr int depth = 7;
  const OnnxOperator* tanh = source.inner(tensor, "Tanh");
  const auto inside =
      tanh != nullptr ? polynomial_of(source, tanh->input(0), x, depth) : std::nullopt;
  const double linear = std::sqrt(2.0 / std::numbers::pi);
  return inside && (*inside)[0] == 0.0 && is_about((*inside)[1], linear) && (*inside)[2] == 0.0 &&
         is_about((*inside)[3], 0.044715 * linear);
}

/// The kind of gelu, "none" or "tanh", whose factor 1 + f(x) a tensor is; nothing if it is none.
std::optional<std::string> kind_of_factor(OnnxSource& source, const std::string& tensor,
                                          const std::string& x) {
  const OnnxOperator* sum = source.inner(tensor, "Add");
  const auto operands = sum != nullptr ? onnx_with_constant(source, *sum) : std::nullopt;
  if (!operands || operands->constant->shape.size() != 1 ||
      operands->constant->numbers().front() != 1.0) {
    return std::nullopt;
  }
  if (is_error_function(source, operands->computed, x)) {
    return "none";
  }
  return is_tanh_of_cubic(source, operands->computed, x) ? std::optional<std::string>("tanh")
                                                         : std::nullopt;
}

OnnxLayer layer_of(OnnxSource& source, const std::string& x) {
  return {.inputs = {{x}}, .shape = source.value(x).shape};
}

OnnxLayer gelu_of(OnnxSource& source, const std::string& x, const std::string& kind) {
  OnnxLayer layer = layer_of(source, x);
  if (kind != "none") {
    layer.options.emplace_back("approximate", kind);
  }
  return layer;
}

}  // namespace

std::optional<OnnxLayer> read_silu(OnnxSource& source, const OnnxOperator& op) {
  if (op.type == "Swish") {
    if (const double alpha = op.real("alpha", 1.0); alpha != 1.0) {
      throw UsageError("its attribute alpha is " + onnx_text(alpha) + "; silu has 1");
    }
    return layer_of(source, op.input(0));
  }
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    const std::string x = op.input(which);
    const OnnxOperator* sigmoid = source.inner(op.input(1 - which), "Sigmoid");
    if (sigmoid != nullptr && sigmoid->input(0) == x) {
      return layer_of(source, x);
    }
  }
  return std::nullopt;
}

std::optional<OnnxLayer> read_gelu(OnnxSource& source, const OnnxOperator& op) {
  if (op.type == "Gelu") {
    const std::string kind = op.text("approximate", "none");
    if (kind != "none" && kind != "tanh") {
      throw UsageError("its attribute approximate is " + kind + "; gelu has none and tanh");
    }
    return gelu_of(source, op.input(0), kind);
  }
  Factors factors;
  add_factors(source, op, factors);
  if (factors.tensors.size() != 2 || !is_about(factors.scale, 0.5)) {
    return std::nullopt;
  }
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    const std::string& x = factors.tensors[which];
    if (const auto kind = kind_of_factor(source, factors.tensors[1 - which], x)) {
      return gelu_of(source, x, *kind);
    }
  }
  return std::nullopt;
}

}  // namespace zygos::nn
