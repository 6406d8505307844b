// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers and a loss that compute nothing: a graph only asks for shapes, parameters and costs.
#pragma once

#include "zygos/core/error.hpp"
#include "zygos/nn/layer.hpp"
#include "zygos/nn/loss.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::testing {

/// Sums its inputs, which must have one shape, and has the parameters it was given.
class ToyLayer : public nn::Layer {
 public:
  explicit ToyLayer(std::vector<nn::ParameterSpec> parameters = {})
      : parameters_(std::move(parameters)) {}

  std::string_view type() const override { return "toy"; }
  Shape infer(std::span<const Shape> inputs) const override {
    for (const Shape& input : inputs) {
      if (input != inputs.front()) {
        throw UsageError("inputs of shape " + inputs.front().text() + " and " + input.text() +
                         " can't be added");
      }
    }
    return inputs.front();
  }
  std::vector<nn::ParameterSpec> parameters(std::span<const Shape>) const override {
    return parameters_;
  }
  std::vector<nn::WorkspaceSpec> workspace(std::int64_t, std::span<const Shape>,
                                           DType) const override {
    return {};
  }
  nn::Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs,
                        DType dtype) const override {
    return {1.0 * static_cast<double>(batch * inputs.front().size()),
            static_cast<double>(size_of(dtype))};
  }
  nn::Cost backward_cost(std::int64_t batch, std::span<const Shape>, DType,
                         bool wants_d_input) const override {
    return {(wants_d_input ? 1000.0 : 100.0) * static_cast<double>(batch), 0.0};
  }
  void forward(const nn::Context&, const nn::ForwardArgs&) const override {}
  void backward(const nn::Context&, const nn::BackwardArgs&) const override {}

 private:
  std::vector<nn::ParameterSpec> parameters_;
};

/// Maps any input to (units) with one parameter of (elements, units), like a dense layer.
class ToyProjection : public ToyLayer {
 public:
  explicit ToyProjection(std::int64_t units) : units_(units) {}
  std::string_view type() const override { return "projection"; }
  Shape infer(std::span<const Shape>) const override { return {units_}; }
  std::vector<nn::ParameterSpec> parameters(std::span<const Shape> inputs) const override {
    return {{"kernel", {inputs.front().size(), units_}, Initialiser::uniform(0.1), true},
            {"bias", {units_}, Initialiser::constant(0.0), false}};
  }

 private:
  std::int64_t units_;
};

class ToyLoss : public nn::Loss {
 public:
  std::string_view type() const override { return "toy_loss"; }
  bool wants_labels() const override { return false; }
  void check(const Shape&, const Shape&, std::int64_t) const override {}
  nn::Cost cost(std::int64_t batch, const Shape&, DType) const override {
    return {10000.0 * static_cast<double>(batch), 0.0};
  }
  void evaluate(const lane::Execution&, const nn::LossArgs&, std::int64_t) const override {}
};

inline nn::LayerPtr toy(std::vector<nn::ParameterSpec> parameters = {}) {
  return std::make_shared<ToyLayer>(std::move(parameters));
}
inline nn::LayerPtr projection(std::int64_t units) {
  return std::make_shared<ToyProjection>(units);
}
inline nn::LossPtr toy_loss() { return std::make_shared<ToyLoss>(); }

}  // namespace zygos::testing
