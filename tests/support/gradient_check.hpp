// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One check of gradients for every layer and loss: analytic against central differences, in double,
// over random shapes and values drawn from fixed seeds.
#pragma once

#include "support/random_values.hpp"

#include "zygos/lane/spaces.hpp"
#include "zygos/nn/layer.hpp"
#include "zygos/nn/loss.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::testing {

/// Host tensors of doubles that live as long as the pool.
class TensorPool {
 public:
  Tensor make(const Shape& shape, const std::vector<double>& values) {
    auto& memory = memory_.emplace_back(values);
    memory.resize(static_cast<std::size_t>(shape.size()) + 1);  // + 1: an address even if empty
    return {memory.data(), DType::f64, shape};
  }
  Tensor random(const Shape& shape, std::uint64_t seed) {
    return make(shape, random_values(static_cast<std::size_t>(shape.size()), seed));
  }
  /// Filled with NaN, to show what was never written.
  Tensor unwritten(const Shape& shape) {
    return make(shape, std::vector<double>(static_cast<std::size_t>(shape.size()), std::nan("")));
  }

 private:
  std::deque<std::vector<double>> memory_;
};

/// A layer with tensors for one batch, on a host space.
class LayerRun {
 public:
  LayerRun(nn::LayerPtr layer, const std::vector<Shape>& shapes, std::int64_t batch,
           std::uint64_t draw, lane::Execution execution = Kokkos::Serial())
      : layer_(std::move(layer)), execution_(std::move(execution)) {
    for (const Shape& shape : shapes) {
      inputs.push_back(pool_.random(shape.with_leading(batch), ++draw * 101));
      d_inputs.push_back(pool_.unwritten(shape.with_leading(batch)));
    }
    for (const nn::ParameterSpec& spec : layer_->parameters(shapes)) {
      statistic.push_back(spec.statistic);
      parameters.push_back(pool_.random(spec.shape, ++draw * 101));
      d_parameters.push_back(pool_.unwritten(spec.shape));
    }
    for (const nn::WorkspaceSpec& spec : layer_->workspace(batch, shapes, DType::f64)) {
      // Room for doubles is room for any element type.
      workspace_.emplace_back(pool_.unwritten(spec.shape).raw(), spec.dtype, spec.shape);
    }
    for (const nn::ConstantSpec& spec : layer_->constants(shapes, DType::f64)) {
      constants_.emplace_back(pool_.unwritten(spec.shape).raw(), spec.dtype, spec.shape);
      spec.fill(constants_.back().raw());
    }
    const Shape shape = layer_->infer(shapes).with_leading(batch);
    output = pool_.unwritten(shape);
    d_output = pool_.random(shape, ++draw * 101);
    ids_.resize(static_cast<std::size_t>(batch));
    std::iota(ids_.begin(), ids_.end(), 7U);
    sample_ids = Tensor(ids_.data(), DType::u32, Shape{batch});
  }

  nn::Context context() const {
    return {.execution = execution_,
            .mode = mode,
            .seed = seed,
            .step = step,
            .layer = layer_index,
            .sample_ids = sample_ids,
            .step_on_lane = step_on_lane};
  }
  void forward() const {
    layer_->forward(context(), {inputs, parameters, workspace_, output, constants_});
  }
  void backward() const {
    layer_->backward(context(), {inputs, parameters, workspace_, output, d_output, d_inputs,
                                 d_parameters, accumulates, global_batch, constants_});
  }

  std::vector<Tensor> inputs;
  std::vector<Tensor> d_inputs;
  std::vector<Tensor> parameters;
  std::vector<Tensor> d_parameters;
  std::vector<bool> statistic;  ///< by parameter: not trained
  Tensor output;
  Tensor d_output;
  Tensor sample_ids;
  nn::Mode mode = nn::Mode::train;
  std::uint64_t seed = 3;
  std::uint64_t step = 5;
  const std::uint64_t* step_on_lane = nullptr;
  std::uint32_t layer_index = 1;
  bool accumulates = false;
  std::int64_t global_batch = 1;

 private:
  nn::LayerPtr layer_;
  lane::Execution execution_;
  TensorPool pool_;
  std::vector<Tensor> workspace_;
  std::vector<Tensor> constants_;
  std::vector<std::uint32_t> ids_;
};

inline std::vector<double> values_of(const Tensor& tensor) {
  return {tensor.data<double>(), tensor.data<double>() + tensor.size()};
}

/// Empty if the gradient of `value` with respect to `variable` is `gradient` to 1e-3 of its
/// magnitude or 1e-5; else the first element that is not.
inline std::string gradient_difference(const Tensor& variable, const Tensor& gradient,
                                       const std::function<double()>& value) {
  constexpr double width = 1e-5;
  for (std::int64_t i = 0; i < variable.size(); ++i) {
    double& x = variable.data<double>()[i];
    const double middle = x;
    x = middle + width;
    const double above = value();
    x = middle - width;
    const double below = value();
    x = middle;
    const double expected = (above - below) / (2.0 * width);
    const double found = gradient.data<double>()[i];
    if (!(std::abs(found - expected) <= 1e-5 + 1e-3 * std::abs(expected))) {
      return "element " + std::to_string(i) + ": gradient " + std::to_string(found) +
             ", difference quotient " + std::to_string(expected);
    }
  }
  return "";
}

/// Checks the gradients of <d_output, output> with respect to all inputs and parameters.
inline std::string check_layer_gradients(LayerRun& run) {
  run.forward();
  run.backward();
  const auto value = [&] {
    run.forward();
    const auto y = values_of(run.output);
    const auto weights = values_of(run.d_output);
    return std::inner_product(y.begin(), y.end(), weights.begin(), 0.0);
  };
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const std::string found = gradient_difference(run.inputs[i], run.d_inputs[i], value);
    if (!found.empty()) {
      return "input " + std::to_string(i) + ", " + found;
    }
  }
  for (std::size_t i = 0; i < run.parameters.size(); ++i) {
    if (run.statistic[i]) {
      continue;  // what it is moved by is no gradient
    }
    const std::string found = gradient_difference(run.parameters[i], run.d_parameters[i], value);
    if (!found.empty()) {
      return "parameter " + std::to_string(i) + ", " + found;
    }
  }
  return "";
}

}  // namespace zygos::testing
