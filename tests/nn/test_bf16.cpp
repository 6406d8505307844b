// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every layer and loss with activations of bf16, against itself in double on the same numbers:
// those that bf16 has, so that what is measured is what the passes add. docs/precision.md states
// the bound.
#include "nn/support/golden.hpp"
#include "support/random_values.hpp"

#include "zygos/nn/losses.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace zygos::nn::test_bf16 {
namespace {

using testing::Buffer;
using testing::GuardedTensor;
using testing::Json;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

/// Of the largest number of a tensor: of outputs, of gradients. A gradient may be that of an
/// output that was rounded, which a slope such as 1 - y y feels twice, and of what was rounded
/// before an activation.
constexpr double unit = 1.0 / 256.0;
constexpr double output_bound = unit;
constexpr double gradient_bound = 4.0 * unit;

/// Pooling and what undoes it take gradients from nothing that was rounded, and add them up wide. A
/// graph convolution rounds between its two products as well.
double gradient_bound_of(const Layer& layer) {
  const std::string_view type = layer.type();
  if (type == "graph_conv") {
    return 4.0 * gradient_bound;
  }
  return type.ends_with("pool2d") || type == "upsample" ? output_bound : gradient_bound;
}

struct Case {
  std::string text;
  LayerPtr layer;
  std::vector<Shape> inputs;  ///< with the batch
  std::vector<std::vector<double>> input_values;
  std::vector<std::vector<double>> parameter_values;
  std::vector<double> d_output;
  bool trains = true;

  std::vector<Shape> samples() const {
    std::vector<Shape> shapes;
    std::ranges::transform(inputs, std::back_inserter(shapes), &Shape::without_leading);
    return shapes;
  }
};

LayerPtr layer_of(const std::string& text) {
  const auto registry = layer_registry();
  return testing::made(registry, testing::section_of(registry, text));
}

/// The golden cases' layers and numbers.
std::vector<Case> golden_layers() {
  std::vector<Case> cases;
  for (const Json& one : testing::golden_cases("layer")) {
    Case made;
    made.text = one.at("layer").get<std::string>();
    made.layer = layer_of(made.text);
    for (const Json& input : one.at("inputs")) {
      made.inputs.push_back(testing::shape_of(input));
      made.input_values.push_back(rounded<bf16>(testing::numbers_of(input)));
    }
    for (const auto& [name, value] : one.at("parameters").items()) {
      made.parameter_values.push_back(rounded<bf16>(testing::numbers_of(value)));
    }
    made.d_output = rounded<bf16>(testing::numbers_of(one.at("d_output")));
    made.trains = one.at("trains");
    cases.push_back(std::move(made));
  }
  return cases;
}

/// A layer over random numbers; token ids are whole.
Case random_case(const std::string& text, std::vector<Shape> inputs) {
  Case made;
  made.text = text;
  made.layer = layer_of(text);
  made.inputs = std::move(inputs);
  std::uint64_t seed = 1;
  const auto limit = static_cast<double>(made.layer->token_limit());
  for (const Shape& shape : made.inputs) {
    auto values = random_values(static_cast<std::size_t>(shape.size()), seed++);
    for (double& value : values) {
      value = limit > 0.0 ? std::floor((value + 1.0) / 2.0 * limit) : double{bf16(value)};
    }
    made.input_values.push_back(values);
  }
  for (const ParameterSpec& spec : made.layer->parameters(made.samples())) {
    auto values = rounded<bf16>(random_values(static_cast<std::size_t>(spec.shape.size()), seed++));
    const bool variance = spec.name.find("variance") != std::string::npos;
    for (double& value : values) {
      value = variance ? 1.5 + value : value;
    }
    made.parameter_values.push_back(std::move(values));
  }
  const Shape output = made.layer->infer(made.samples()).with_leading(made.inputs.front()[0]);
  made.d_output = rounded<bf16>(random_values(static_cast<std::size_t>(output.size()), seed));
  return made;
}

/// Odd dimensions and large ones: several tiles, blocks and chunks.
std::vector<Case> large_layers() {
  return {
      random_case("{type: dense, units: 130}", {Shape{67, 301}}),
      random_case("{type: dense, units: 70, activation: tanh}", {Shape{33, 1100}}),
      random_case("{type: dense, units: 9, flatten: false, bias: false}", {Shape{5, 7, 130}}),
      random_case("{type: dense, units: 300, activation: relu}", {Shape{600, 65}}),
      random_case("gelu", {Shape{37, 129}}),
      random_case("{type: gelu, approximate: tanh}", {Shape{37, 129}}),
      random_case("silu", {Shape{37, 129}}),
      random_case("tanh", {Shape{300, 70}}),
      random_case("{type: leaky_relu, slope: 0.25}", {Shape{300, 70}}),
      random_case("{type: dropout, rate: 0.3}", {Shape{65, 203}}),
      random_case("layer_norm", {Shape{65, 203}}),
      random_case("{type: group_norm, groups: 3}", {Shape{33, 6, 5, 9}}),
      random_case("add", {Shape{129, 203}, Shape{129, 203}}),
      random_case("{type: add, dropout: 0.3}", {Shape{65, 203}, Shape{65, 203}}),
      random_case("concat", {Shape{65, 7}, Shape{65, 203}}),
      random_case("{type: concat, axis: last}", {Shape{33, 9, 7}, Shape{33, 9, 203}}),
      random_case("positions", {Shape{9, 33, 70}}),
      random_case("class_token", {Shape{67, 33, 70}}),
      random_case("{type: select, index: -2}", {Shape{67, 33, 70}}),
      random_case("transpose", {Shape{9, 33, 7, 10}}),
      random_case("{type: embedding, vocabulary: 700, units: 33}", {Shape{19, 65}}),
      random_case("{type: conv2d, filters: 13, kernel: 3, padding: 1, activation: tanh}",
                  {Shape{5, 7, 19, 23}}),
      random_case("{type: conv2d, filters: 6, kernel: [5, 3], stride: 2, groups: 2}",
                  {Shape{17, 4, 31, 18}}),
      random_case("{type: conv2d, filters: 3, kernel: 3}", {Shape{3, 3, 40, 70}}),
      random_case(
          "{type: conv_transpose2d, filters: 5, kernel: 4, stride: 2, padding: 1, activation: "
          "sigmoid}",
          {Shape{5, 6, 9, 11}}),
      random_case("{type: max_pool2d, kernel: 3, stride: 2, padding: 1}", {Shape{5, 7, 19, 23}}),
      random_case("{type: max_pool2d, kernel: 2}", {Shape{5, 7, 18, 40}}),
      random_case("{type: average_pool2d, kernel: 3, stride: 1, padding: 1}",
                  {Shape{5, 7, 19, 23}}),
      random_case("{type: average_pool2d, kernel: 2}", {Shape{5, 7, 18, 40}}),
      random_case("{type: upsample, factor: 3}", {Shape{5, 7, 9, 13}}),
      random_case("{type: upsample, factor: 2, mode: bilinear}", {Shape{5, 7, 9, 13}}),
      random_case("batch_norm", {Shape{33, 7, 5, 9}}),
      random_case("{type: batch_norm, group: 8}", {Shape{33, 300}}),
      random_case("{type: lrn, size: 3}", {Shape{5, 11, 6, 7}}),
      random_case("{type: causal_attention, heads: 2}", {Shape{3, 130, 120}}),
      random_case("{type: causal_attention, heads: 1, dropout: 0.2}", {Shape{2, 70, 3 * 300}}),
      random_case("{type: attention, heads: 2}", {Shape{3, 130, 120}}),
      random_case("{type: attention, heads: 1, dropout: 0.2}", {Shape{2, 70, 3 * 300}})};
}

struct Results {
  std::vector<double> output;
  std::vector<std::vector<double>> d_inputs;
  std::vector<std::vector<double>> d_parameters;
  bool intact = true;

  bool operator==(const Results&) const = default;
};

/// A tensor of numbers of a type known at run time, between guard words.
template <class Exec>
struct AnyTensor {
  AnyTensor(DType type, const Shape& shape, const std::vector<double>& values = {}) {
    if (type == DType::bf16) {
      make(narrow, shape, values);
    } else if (type == DType::f32) {
      make(single, shape, values);
    } else {
      make(full, shape, values);
    }
  }
  std::vector<double> values() const {
    std::vector<double> all;
    const auto add = [&](const auto& held) {
      for (const auto& one : held) {
        for (const auto value : one.buffer.values()) {
          all.push_back(static_cast<double>(value));
        }
      }
    };
    add(narrow), add(single), add(full);
    return all;
  }
  bool intact() const {
    const auto are = [](const auto& held) {
      return std::ranges::all_of(held, [](const auto& one) { return one.buffer.guards_intact(); });
    };
    return are(narrow) && are(single) && are(full);
  }

  Tensor tensor;

 private:
  template <class T>
  void make(std::vector<GuardedTensor<Exec, T>>& held, const Shape& shape,
            const std::vector<double>& values) {
    held.emplace_back(shape);
    if (!values.empty()) {
      held.back().buffer.assign(values);
    }
    tensor = held.back().tensor;
  }

  std::vector<GuardedTensor<Exec, bf16>> narrow;
  std::vector<GuardedTensor<Exec, float>> single;
  std::vector<GuardedTensor<Exec, double>> full;
};

template <class Exec>
std::vector<Tensor> tensors_of(const std::vector<AnyTensor<Exec>>& held) {
  std::vector<Tensor> tensors;
  std::ranges::transform(held, std::back_inserter(tensors), &AnyTensor<Exec>::tensor);
  return tensors;
}

const std::vector<bool> once_and_again{false, true};

/// Both passes with activations of `type`.
template <class Exec>
Results run(const Case& one, DType type, const Exec& exec) {
  const auto samples = one.samples();
  const std::int64_t batch = one.inputs.front()[0];
  const bool tokens = one.layer->token_limit() > 0;
  std::vector<AnyTensor<Exec>> inputs, d_inputs, parameters, d_parameters, workspace;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    inputs.emplace_back(tokens ? wide(type) : type, one.inputs[i], one.input_values[i]);
    d_inputs.emplace_back(type, tokens ? Shape{0} : one.inputs[i]);
  }
  const auto specs = one.layer->parameters(samples);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    parameters.emplace_back(wide(type), specs[i].shape, one.parameter_values[i]);
    d_parameters.emplace_back(wide(type), specs[i].shape);
  }
  std::vector<Buffer<Exec, double>> scratch;
  std::vector<Tensor> scratch_tensors;
  for (const WorkspaceSpec& spec : one.layer->workspace(batch, samples, type)) {
    scratch.emplace_back(static_cast<std::size_t>(spec.shape.size()));
    scratch_tensors.emplace_back(scratch.back().data(), spec.dtype, spec.shape);
  }
  std::vector<Tensor> constants;
  for (const ConstantSpec& spec : one.layer->constants(samples, wide(type))) {
    scratch.emplace_back(static_cast<std::size_t>(spec.shape.size()));
    constants.emplace_back(scratch.back().data(), spec.dtype, spec.shape);
    testing::fill_constant<Exec>(constants.back(), spec);
  }
  const Shape shape = one.layer->infer(samples).with_leading(batch);
  const AnyTensor<Exec> output(type, shape), d_output(type, shape, one.d_output);
  GuardedTensor<Exec, std::uint32_t> ids(Shape{batch});
  std::vector<double> numbers(static_cast<std::size_t>(batch));
  std::iota(numbers.begin(), numbers.end(), 7.0);
  ids.buffer.assign(numbers);

  const lane::Execution execution = exec;
  const Context context{execution, one.trains ? Mode::train : Mode::evaluate, 3, 5, 1, ids.tensor};
  const auto x = tensors_of(inputs), w = tensors_of(parameters);
  const auto d_x = tensors_of(d_inputs), d_w = tensors_of(d_parameters);
  one.layer->forward(context, ForwardArgs{x, w, scratch_tensors, output.tensor, constants});
  for (const bool accumulates : once_and_again) {
    one.layer->backward(context, BackwardArgs{x, w, scratch_tensors, output.tensor, d_output.tensor,
                                              d_x, d_w, accumulates, batch, constants});
  }
  exec.fence("zygos::test");

  Results results{.output = output.values(), .d_inputs = {}, .d_parameters = {}};
  for (std::size_t i = 0; i < d_inputs.size(); ++i) {
    results.d_inputs.push_back(d_inputs[i].values());
    results.intact = results.intact && d_inputs[i].intact();
  }
  for (const auto& gradient : d_parameters) {
    results.d_parameters.push_back(gradient.values());
    results.intact = results.intact && gradient.intact();
  }
  results.intact = results.intact && output.intact() &&
                   std::ranges::all_of(scratch, [](const auto& one_scratch) {
                     return one_scratch.guards_intact();
                   });
  return results;
}

/// Largest error, as a part of the largest number.
double error_of(const std::vector<double>& found, const std::vector<double>& expected) {
  double most = 1e-30;
  double error = found.size() == expected.size() ? 0.0 : 1e30;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    most = std::max(most, std::abs(expected[i]));
    const double off = std::abs(found[i] - expected[i]);
    error = off <= error ? error : off;  // NaN counts
  }
  return error / most;
}

template <class Exec>
void compare_with_double(const Case& one) {
  CAPTURE(one.text, one.inputs.front().text());
  const Exec exec = make_exec<Exec>();
  const Results found = run(one, DType::bf16, exec);
  const Results expected = run(one, DType::f64, exec);

  CHECK(found.intact);
  CHECK(error_of(found.output, expected.output) <= output_bound);
  for (std::size_t i = 0; i < expected.d_inputs.size(); ++i) {
    CAPTURE(i);
    CHECK(error_of(found.d_inputs[i], expected.d_inputs[i]) <= gradient_bound_of(*one.layer));
  }
  for (std::size_t i = 0; i < expected.d_parameters.size(); ++i) {
    CAPTURE(i);
    CHECK(error_of(found.d_parameters[i], expected.d_parameters[i]) <=
          std::max(gradient_bound, gradient_bound_of(*one.layer)));
  }
}

bool has_bf16(const Case& one) {
  try {
    one.layer->require_bf16(one.samples());
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("Every layer with bf16 does what PyTorch's cases ask, within its bound of double") {
  std::set<std::string_view> types;
  for (const Case& one : golden_layers()) {
    if (has_bf16(one)) {
      types.insert(one.layer->type());
      compare_with_double<Kokkos::OpenMP>(one);
      compare_with_double<Kokkos::Serial>(one);
    }
  }
  CHECK(types.size() >= 12);
}

TEST_CASE("Large and odd dimensions stay within the bound as well") {
  for (const Case& one : large_layers()) {
    compare_with_double<Kokkos::OpenMP>(one);
  }
}

TEST_CASE("Layers with bf16 have the same bits for one to four threads") {
  for (const Case& one : large_layers()) {
    CAPTURE(one.text);
    const Results alone = run(one, DType::bf16, make_exec<Kokkos::OpenMP>(1));
    for (const int threads : {2, 3, 4}) {
      CHECK(run(one, DType::bf16, make_exec<Kokkos::OpenMP>(threads)) == alone);
    }
  }
}

TEST_CASE("Losses evaluate predictions of bf16 as doubles, and round only their gradient") {
  for (const Json& one : testing::golden_cases("loss")) {
    CAPTURE(one.at("loss").dump());
    const auto registry = loss_registry();
    const auto loss = testing::made(registry, testing::section_of(registry, one.at("loss")));
    REQUIRE(loss->takes_bf16());
    using Exec = Kokkos::OpenMP;
    const Shape shape = testing::shape_of(one.at("prediction"));
    const auto values = rounded<bf16>(testing::numbers_of(one.at("prediction")));
    const GuardedTensor<Exec, std::int32_t> labels(one.at("target"));
    const auto evaluate = [&](DType type, std::vector<double>& gradient) {
      const AnyTensor<Exec> prediction(type, shape, values), d_prediction(type, shape);
      const AnyTensor<Exec> numbers(wide(type), testing::shape_of(one.at("target")),
                                    rounded<float>(testing::numbers_of(one.at("target"))));
      const std::int64_t scored = loss->wants_labels() ? labels.tensor.size() : shape[0];
      const GuardedTensor<Exec, double> losses(Shape{scored}), totals(Shape{loss_totals});
      const GuardedTensor<Exec, std::int32_t> hits(Shape{scored});
      LossArgs args;
      args.prediction = prediction.tensor;
      args.target = loss->wants_labels() ? labels.tensor : numbers.tensor;
      args.sample_losses = losses.tensor;
      args.sample_hits = hits.tensor;
      args.d_prediction = d_prediction.tensor;
      args.totals = totals.tensor;
      const testing::LossConstants<Exec> constants(*loss, shape);
      args.constants = constants.tensors();
      loss->evaluate(make_exec<Exec>(), args, shape[0]);
      gradient = d_prediction.values();
      CHECK(d_prediction.intact());
      return totals.buffer.values()[0];
    };
    std::vector<double> found, expected;
    const double value = evaluate(DType::bf16, found);
    const double exact = evaluate(DType::f64, expected);
    CHECK(std::abs(value - exact) <= 1e-5 * std::max(1.0, std::abs(exact)));
    CHECK(error_of(found, expected) <= output_bound);
  }
}

}  // namespace zygos::nn::test_bf16
