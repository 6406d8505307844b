// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/upsample.hpp"

#include "nn/axis_pair.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"

#include "zygos/core/saturated.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace zygos::nn {
namespace {

class Upsample final : public Layer {
 public:
  explicit Upsample(const UpsampleOptions& options)
      : factor_(options.factor),
        between_(options.bilinear ? ops::Between::bilinear : ops::Between::nearest) {
    require_pair(type(), "factor", factor_, 1);
  }

  std::string_view type() const override { return "upsample"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const ImageExtents image = image_extents(type(), only_input(type(), inputs));
    return Shape{image.channels, saturated_product(image.height, factor_.y),
                 saturated_product(image.width, factor_.x)};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const auto samples = static_cast<double>(batch);
    const double outputs = samples * static_cast<double>(infer(inputs).size());
    const double read = samples * static_cast<double>(inputs[0].size());
    // Three blends of a difference and a product, and their sum.
    const double operations = between_ == ops::Between::bilinear ? 9.0 : 0.0;
    return {operations * outputs, (read + outputs) * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    if (!wants_d_input) {
      return {};
    }
    Cost cost = forward_cost(batch, inputs, dtype);
    // Every output goes into one input or into four.
    const double addends = between_ == ops::Between::bilinear ? 12.0 : 1.0;
    cost.flops = addends * static_cast<double>(batch) * static_cast<double>(infer(inputs).size());
    return cost;
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const ImageExtents image = image_extents(type(), shapes[0]);
    const std::string x =
        onnx_reshape(graph, inputs[0], Shape{image.channels, image.height, image.width});
    // Half-pixel centres, and the nearest as copies of a pixel.
    const bool bilinear = between_ == ops::Between::bilinear;
    const std::array<std::int64_t, 3> larger{image.channels, image.height * factor_.y,
                                             image.width * factor_.x};
    const std::array scales{1.0, 1.0, static_cast<double>(factor_.y),
                            static_cast<double>(factor_.x)};
    const std::string out = graph.add(
        "Resize", {x, "", graph.scales(scales)},
        {{"mode", std::string(bilinear ? "linear" : "nearest")},
         {"coordinate_transformation_mode", std::string(bilinear ? "half_pixel" : "asymmetric")},
         {"nearest_mode", std::string("floor")}});
    return onnx_reshape(graph, out, Shape(larger));
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::upsample<Exec, T>(exec, upsampling(args.inputs[0]), between_,
                             vector_view<Exec, const T>(args.inputs[0]),
                             vector_view<Exec, T>(args.output));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::upsample_backward<Exec, T>(exec, upsampling(args.inputs[0]), between_,
                                      vector_view<Exec, const T>(args.d_output),
                                      vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  ops::Upsampling upsampling(const Tensor& input) const {
    const ImageExtents image = image_extents(type(), input.shape().without_leading());
    return {input.shape()[0] * image.channels, image.height, image.width, factor_.y, factor_.x};
  }

  AxisPair factor_;
  ops::Between between_;
};

/// How often every row and column is repeated: of an input of factors, or of the output's
/// dimensions.
AxisPair factor_in(OnnxSource& source, const OnnxOperator& op, const Shape& shape) {
  const bool early = op.type == "Upsample" || op.inputs.size() == 2;  // no region of interest
  const std::string& scales = op.input(early ? 1 : 2);
  const auto* factors = scales.empty() ? nullptr : source.constant(scales);
  const auto* dimensions = op.input(3).empty() ? nullptr : source.constant(op.input(3));
  std::vector<double> numbers =
      factors != nullptr && factors->shape.size() > 0 ? factors->numbers() : std::vector<double>{};
  if (numbers.empty() && dimensions != nullptr) {
    numbers = dimensions->numbers();
    for (std::size_t axis = 0; axis < std::min(numbers.size(), shape.rank()); ++axis) {
      numbers[axis] /= static_cast<double>(shape[axis]);
    }
  }
  const auto is_factor = [](double number) {
    return number >= 1.0 && number == std::floor(number);
  };
  if (numbers.size() != 4 || numbers[0] != 1.0 || numbers[1] != 1.0 ||
      !std::ranges::all_of(numbers, is_factor)) {
    throw UsageError("its sizes are not a whole multiple of the height and width of its input, " +
                     shape.text());
  }
  return {static_cast<std::int64_t>(numbers[2]), static_cast<std::int64_t>(numbers[3])};
}

std::optional<OnnxLayer> read_upsample(OnnxSource& source, const OnnxOperator& op) {
  const Shape& shape = source.value(op.input(0)).shape;
  OnnxLayer layer{.inputs = {{op.input(0), onnx_image(op, shape)}}};
  const AxisPair factor = factor_in(source, op, shape);
  layer.options.emplace_back("factor", onnx_text(std::array{factor.y, factor.x}));
  const bool early = op.type == "Upsample" || op.inputs.size() == 2;
  const std::string mode = op.text("mode", "nearest");
  const std::string positions =
      op.text("coordinate_transformation_mode", early ? "asymmetric" : "half_pixel");
  const std::string rounding = op.text("nearest_mode", early ? "floor" : "round_prefer_floor");
  const bool copies =
      mode == "nearest" && ((positions == "asymmetric" && rounding == "floor") ||
                            (positions == "half_pixel" && rounding.starts_with("round_")));
  const bool blends = mode == "linear" && positions.ends_with("half_pixel");
  if (!copies && !blends) {
    throw UsageError("its mode is " + mode + " with " + positions + " and " + rounding +
                     "; layers have copies of a pixel (nearest, asymmetric, floor) and blends of "
                     "four (linear, half_pixel)");
  }
  if (blends) {
    layer.options.emplace_back("mode", "bilinear");
  }
  return layer;
}

}  // namespace

LayerPtr upsample(UpsampleOptions options) { return std::make_shared<Upsample>(options); }

Entry<LayerPtr> upsample_entry() {
  deck::Schema schema("upsample",
                      "Upsampling: images with several pixels for each of the input's.");
  pair_key(schema, "factor", "Upsampling factor: rows and columns for each of the input's.", 1)
      .required()
      .example("2");
  schema
      .choice("mode", {"nearest", "bilinear"},
              "Interpolation; nearest: copies of a pixel; bilinear: between the centres of four, "
              "the border repeated.")
      .fallback("nearest");
  return {schema,
          [](const deck::Section& options) {
            return upsample({.factor = pair_of(options, "factor"),
                             .bilinear = options.text("mode") == "bilinear"});
          },
          {{"Resize", "Upsample"}, read_upsample}};
}

}  // namespace zygos::nn
