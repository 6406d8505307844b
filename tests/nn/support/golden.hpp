// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The answers of PyTorch that tests/reference/golden_torch.py wrote down, and what runs them: each
// case is made from its deck text, on a space of the build, and compared number by number.
#pragma once

#include "nn/support/from_deck.hpp"
#include "support/kernel_case.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace zygos::testing {

/// Keeps the order of a layer's parameters.
using Json = nlohmann::ordered_json;

/// In units of the type's epsilon, times the larger of magnitude and 1: see `difference`. The file
/// has 15 digits, which are worth 23 of a double's.
inline constexpr double golden_tolerance = 64.0;

/// All cases of a kind: "layer", "loss", "optimizer" or "rate".
inline std::vector<Json> golden_cases(const std::string& kind) {
  const std::string path = "tests/reference/golden_torch.jsonl";
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error(path + " can't be read; tests run in the root of the source tree");
  }
  std::vector<Json> cases;
  for (std::string line; std::getline(file, line);) {
    Json one = Json::parse(line);
    if (one.contains(kind)) {
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

inline Shape shape_of(const Json& array) {
  const auto dimensions = array.at("shape").get<std::vector<std::int64_t>>();
  return Shape(std::span(dimensions));
}
inline std::vector<double> numbers_of(const Json& array) {
  return array.at("values").get<std::vector<double>>();
}

/// A tensor in a space's memory, between guard words.
template <class Exec, class T>
struct GuardedTensor {
  explicit GuardedTensor(const Shape& shape)
      : buffer(static_cast<std::size_t>(shape.size())), tensor(buffer.data(), dtype_of<T>, shape) {}
  explicit GuardedTensor(const Json& array) : GuardedTensor(shape_of(array)) {
    buffer.assign(numbers_of(array));
  }

  Buffer<Exec, T> buffer;
  Tensor tensor;
};

/// Empty if the tensor holds `factor` times the numbers of the file; else what differs.
template <class Exec, class T>
std::string difference_of(const std::string& what, const GuardedTensor<Exec, T>& found,
                          const Json& array, double factor = 1.0) {
  if (found.tensor.shape() != shape_of(array)) {
    return what + " has the shape " + found.tensor.shape().text() + ", expected " +
           shape_of(array).text() + "\n";
  }
  if (!found.buffer.guards_intact()) {
    return what + ": written beyond its end\n";
  }
  std::vector<double> expected = numbers_of(array);
  for (double& value : expected) {
    value *= factor;
  }
  const std::string text = difference(found.buffer.values(), expected, golden_tolerance);
  return text.empty() ? "" : what + ", " + text + "\n";
}

template <class Exec, class T>
std::vector<Tensor> tensors_of(const std::vector<GuardedTensor<Exec, T>>& held) {
  std::vector<Tensor> tensors;
  for (const GuardedTensor<Exec, T>& one : held) {
    tensors.push_back(one.tensor);
  }
  return tensors;
}

/// Writes a constant to a space's memory.
template <class Exec>
void fill_constant(const Tensor& constant, const nn::ConstantSpec& spec) {
  using Bytes = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<std::byte> host(constant.bytes());
  spec.fill(host.data());
  Kokkos::deep_copy(
      Kokkos::View<std::byte*, typename Exec::memory_space, Bytes>(
          static_cast<std::byte*>(constant.raw()), host.size()),
      Kokkos::View<const std::byte*, Kokkos::HostSpace, Bytes>(host.data(), host.size()));
}

/// The constants of a loss on a space, filled; `batch` is the shape of its prediction.
template <class Exec>
class LossConstants {
 public:
  LossConstants(const nn::Loss& loss, const Shape& batch) {
    for (const nn::ConstantSpec& spec : loss.constants(batch.without_leading())) {
      held_.emplace_back(static_cast<std::size_t>(spec.shape.size()));
      tensors_.emplace_back(held_.back().data(), spec.dtype, spec.shape);
      fill_constant<Exec>(tensors_.back(), spec);
    }
  }
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  std::vector<Buffer<Exec, double>> held_;  // room for doubles is room for any type
  std::vector<Tensor> tensors_;
};

/// A layer of the file on a space: forward, backward, and backward again on top of it.
template <class Exec, class T>
class GoldenLayer {
  using Held = GuardedTensor<Exec, T>;

 public:
  explicit GoldenLayer(const Json& one)
      : case_(one),
        layer_(made(nn::layer_registry(), section_of(nn::layer_registry(), one.at("layer")))),
        output_(shape_of(one.at("output"))),
        d_output_(one.at("d_output")),
        ids_(Shape{output_.tensor.shape()[0]}) {
    for (const Json& input : one.at("inputs")) {
      inputs_.emplace_back(input);
      shapes_.push_back(inputs_.back().tensor.shape().without_leading());
    }
    for (const Json& gradient : one.at("d_inputs")) {
      d_inputs_.emplace_back(gradient.is_null() ? Shape{0} : shape_of(gradient));
    }
    for (const auto& [name, value] : one.at("parameters").items()) {
      parameters_.emplace_back(value);
      d_parameters_.emplace_back(shape_of(value));
    }
    const std::int64_t batch = output_.tensor.shape()[0];
    for (const nn::WorkspaceSpec& spec : layer_->workspace(batch, shapes_, dtype_of<T>)) {
      // Room for doubles is room for any element type.
      scratch_.emplace_back(static_cast<std::size_t>(spec.shape.size()));
      workspace_.emplace_back(scratch_.back().data(), spec.dtype, spec.shape);
    }
    for (const nn::ConstantSpec& spec : layer_->constants(shapes_, dtype_of<T>)) {
      scratch_.emplace_back(static_cast<std::size_t>(spec.shape.size()));
      constants_.emplace_back(scratch_.back().data(), spec.dtype, spec.shape);
      fill_constant<Exec>(constants_.back(), spec);
    }
    std::vector<double> ids(static_cast<std::size_t>(batch));
    std::iota(ids.begin(), ids.end(), 7.0);
    ids_.buffer.assign(ids);
  }

  /// What is not as PyTorch has it, a line each.
  std::string differences() {
    std::string text = declared();
    if (!text.empty()) {
      return text;
    }
    const Exec exec = make_exec<Exec>();
    const lane::Execution execution = exec;
    const nn::Mode mode = case_.at("trains") ? nn::Mode::train : nn::Mode::evaluate;
    const nn::Context context{execution, mode, 3, 5, 1, ids_.tensor};
    const auto inputs = tensors_of(inputs_), parameters = tensors_of(parameters_);
    const auto d_inputs = tensors_of(d_inputs_), d_parameters = tensors_of(d_parameters_);
    // Types by their names: nvcc takes a bare list in a template for something else.
    layer_->forward(context,
                    nn::ForwardArgs{inputs, parameters, workspace_, output_.tensor, constants_});
    text += difference_of("output", output_, case_.at("output"));
    for (const bool accumulates : {false, true}) {
      layer_->backward(context,
                       nn::BackwardArgs{inputs, parameters, workspace_, output_.tensor,
                                        d_output_.tensor, d_inputs, d_parameters, accumulates,
                                        /*global_batch=*/output_.tensor.shape()[0], constants_});
      text += gradient_differences(accumulates ? 2.0 : 1.0);
    }
    for (const Buffer<Exec, double>& scratch : scratch_) {
      text += scratch.guards_intact() ? "" : "workspace: written beyond its end\n";
    }
    return text;
  }

 private:
  std::string declared() const {
    const Shape shape = layer_->infer(shapes_).with_leading(inputs_[0].tensor.shape()[0]);
    if (shape != output_.tensor.shape()) {
      return "infer says " + shape.text() + ", expected " + output_.tensor.shape().text() + "\n";
    }
    std::string found, expected;
    for (const nn::ParameterSpec& spec : layer_->parameters(shapes_)) {
      found += spec.name + " " + spec.shape.text() + " ";
    }
    for (const auto& [name, value] : case_.at("parameters").items()) {
      expected += name + " " + shape_of(value).text() + " ";
    }
    return found == expected ? "" : "parameters: " + found + "; expected " + expected + "\n";
  }

  /// Gradients of parameters accumulate, those of inputs do not.
  std::string gradient_differences(double times) const {
    std::string text;
    for (std::size_t i = 0; i < d_inputs_.size(); ++i) {
      const Json& expected = case_.at("d_inputs")[i];
      text += expected.is_null()
                  ? ""
                  : difference_of("d_input " + std::to_string(i), d_inputs_[i], expected);
    }
    std::size_t index = 0;
    for (const auto& [name, expected] : case_.at("d_parameters").items()) {
      text += difference_of("d_" + name, d_parameters_[index++], expected, times);
    }
    return text;
  }

  const Json& case_;
  nn::LayerPtr layer_;
  std::vector<Shape> shapes_;
  std::vector<Held> inputs_, d_inputs_, parameters_, d_parameters_;
  Held output_, d_output_;
  std::vector<Buffer<Exec, double>> scratch_;
  std::vector<Tensor> workspace_, constants_;
  GuardedTensor<Exec, std::uint32_t> ids_;
};

/// The same of a loss: its mean over the batch, and that mean's gradient.
template <class Exec, class T>
std::string loss_differences(const Json& one) {
  const auto loss = made(nn::loss_registry(), section_of(nn::loss_registry(), one.at("loss")));
  const GuardedTensor<Exec, T> prediction(one.at("prediction"));
  const GuardedTensor<Exec, T> numbers(one.at("target"));
  const GuardedTensor<Exec, std::int32_t> labels(one.at("target"));
  const std::int64_t samples = prediction.tensor.shape()[0];
  const GuardedTensor<Exec, T> gradient(prediction.tensor.shape());
  const std::int64_t scored = loss->wants_labels() ? labels.tensor.size() : samples;
  const GuardedTensor<Exec, double> losses(Shape{scored}), totals(Shape{nn::loss_totals});
  const GuardedTensor<Exec, std::int32_t> hits(Shape{scored});

  const lane::Execution execution = make_exec<Exec>();
  nn::LossArgs args;
  args.prediction = prediction.tensor;
  args.target = loss->wants_labels() ? labels.tensor : numbers.tensor;
  args.sample_losses = losses.tensor;
  args.sample_hits = hits.tensor;
  args.d_prediction = gradient.tensor;
  args.totals = totals.tensor;
  const LossConstants<Exec> constants(*loss, prediction.tensor.shape());
  args.constants = constants.tensors();
  loss->evaluate(execution, args, samples);

  const T mean = static_cast<T>(totals.buffer.values()[0] / static_cast<double>(samples));
  const std::string value =
      difference(std::vector<T>{mean}, {one.at("value").get<double>()}, golden_tolerance);
  return (value.empty() ? "" : "value, " + value + "\n") +
         difference_of("d_prediction", gradient, one.at("d_prediction"));
}

/// The same of an optimizer: the weights after each of some steps.
template <class Exec, class T>
std::string optimizer_differences(const Json& one) {
  const auto optimizer =
      made(nn::optimizer_registry(), section_of(nn::optimizer_registry(), one.at("optimizer")));
  const GuardedTensor<Exec, T> weights(one.at("weights"));
  const GuardedTensor<Exec, std::uint8_t> decays(one.at("decays"));
  std::vector<GuardedTensor<Exec, T>> states;
  for (std::size_t i = 0; i < optimizer->state_names().size(); ++i) {
    states.emplace_back(weights.tensor.shape());
    Kokkos::deep_copy(states.back().buffer.vector(), T(0));
  }

  const lane::Execution execution = make_exec<Exec>();
  std::string text;
  nn::UpdateArgs args;
  args.weights = weights.tensor;
  args.states = tensors_of(states);
  args.decay_mask = optimizer->uses_decay() ? decays.tensor : Tensor();
  for (const Json& gradient : one.at("gradients")) {
    const GuardedTensor<Exec, T> held(gradient);
    args.gradient = held.tensor;
    ++args.step;
    optimizer->update(execution, args);
    text += difference_of("weights after step " + std::to_string(args.step), weights,
                          one.at("after")[args.step - 1]);
  }
  return text;
}

/// The same of a schedule of learning rates: its factors, step by step.
inline std::string rate_differences(const Json& one) {
  const auto entries = nn::rate_schedule_registry();
  const auto schedule = made(entries, section_of(entries, one.at("rate")));
  const std::vector<double> expected = numbers_of(one.at("factors"));
  std::vector<double> found;
  for (std::size_t done = 0; done < expected.size(); ++done) {
    const std::int64_t reductions =
        one.contains("reductions") ? one.at("reductions")[done].get<std::int64_t>() : 0;
    found.push_back(
        schedule->factor({.done = static_cast<std::int64_t>(done), .reductions = reductions}));
  }
  return difference(found, expected, golden_tolerance);
}

}  // namespace zygos::testing
