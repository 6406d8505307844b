// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/pool/pool2d.hpp"

#include "nn/axis_pair.hpp"
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "nn/reading/pooling.hpp"
#include "nn/shard_forms.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

namespace zygos::nn {
namespace {

/// What both poolings share: their options and shapes.
class Pooling : public Layer {
 public:
  Pooling(std::string_view name, const Pool2dOptions& options) : name_(name), options_(options) {
    require_pair(name, "kernel", options.kernel, 1);
    require_pair(name, "stride", options.stride, 1);
    require_pair(name, "padding", options.padding, 0);
    if (options.padding.y >= options.kernel.y || options.padding.x >= options.kernel.x) {
      throw UsageError(std::string(name) +
                       ": the padding is not smaller than the kernel, so that some windows would "
                       "see nothing but padding; make it smaller");
    }
  }

  std::string_view type() const override { return name_; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const ops::Pool2d pool = pooling(1, inputs);
    for (const ops::PoolAxis& axis : {pool.y, pool.x}) {
      if (axis.output < 1) {
        throw UsageError(name_ + ": the kernel covers " + std::to_string(axis.kernel) +
                         " of an input of " + std::to_string(axis.input) + " with " +
                         std::to_string(axis.padding) +
                         " around it; make the kernel smaller or set `ceil: true`");
      }
    }
    return Shape{image_extents(name_, inputs[0]).channels, pool.y.output, pool.x.output};
  }

  ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(name_, inputs);
    return shape.rank() == 3 ? channelwise_form(kind, shape, infer(inputs)) : ShardForm{};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const ops::Pool2d pool = pooling(batch, inputs);
    const auto planes = static_cast<double>(pool.planes);
    const double outputs = planes * static_cast<double>(pool.y.output * pool.x.output);
    const double read = planes * static_cast<double>(pool.y.input * pool.x.input);
    return {outputs * static_cast<double>(pool.y.kernel * pool.x.kernel),
            (read + outputs) * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? forward_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const ImageExtents image = image_extents(name_, shapes[0]);
    std::vector<OnnxAttribute> attributes{
        {"kernel_shape", std::vector<std::int64_t>{options_.kernel.y, options_.kernel.x}},
        {"strides", std::vector<std::int64_t>{options_.stride.y, options_.stride.x}},
        {"pads", onnx_pads(options_.padding)},
        {"ceil_mode", std::int64_t{options_.ceil ? 1 : 0}}};
    add_onnx_attributes(attributes);
    return graph.add(
        onnx_operator(),
        {onnx_reshape(graph, inputs[0], Shape{image.channels, image.height, image.width})},
        attributes);
  }

 protected:
  virtual std::string_view onnx_operator() const = 0;
  virtual void add_onnx_attributes(std::vector<OnnxAttribute>&) const {}
  const Pool2dOptions& options() const { return options_; }
  ops::Pool2d pooling(std::int64_t batch, std::span<const Shape> inputs) const {
    const ImageExtents image = image_extents(name_, only_input(name_, inputs));
    return {batch * image.channels,
            axis(image.height, options_.kernel.y, options_.stride.y, options_.padding.y),
            axis(image.width, options_.kernel.x, options_.stride.x, options_.padding.x)};
  }
  ops::Pool2d pooling(const Tensor& input) const {
    const Shape sample = input.shape().without_leading();
    return pooling(input.shape()[0], std::span(&sample, 1));
  }

 private:
  ops::PoolAxis axis(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                     std::int64_t padding) const {
    const std::int64_t room = input + 2 * padding - kernel;
    std::int64_t output = room < 0 ? 0 : room / stride + 1;
    if (options_.ceil && room > -stride) {
      output = (room + stride - 1) / stride + 1;
      // A window begins in the input or in the padding before it, never behind.
      output -= (output - 1) * stride >= input + padding ? 1 : 0;
    }
    return {input, output, kernel, stride, padding};
  }

  std::string name_;
  Pool2dOptions options_;
};

class MaxPool2d final : public Pooling {
 public:
  explicit MaxPool2d(const Pool2dOptions& options) : Pooling("max_pool2d", options) {}

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements ? LayerShard{std::make_shared<MaxPool2d>(*this), {}}
                                             : Layer::shard(range, inputs);
  }

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType) const override {
    return {{"where", infer(inputs).with_leading(batch), DType::i32, true}};
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::max_pool2d<Exec, T>(
          exec, pooling(args.inputs[0]), vector_view<Exec, const T>(args.inputs[0]),
          vector_view<Exec, T>(args.output), vector_view<Exec, std::int32_t>(args.workspace[0]));
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!args.d_inputs[0]) {
      return;
    }
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::max_pool2d_backward<Exec, T>(exec, pooling(args.inputs[0]),
                                        vector_view<Exec, const T>(args.d_output),
                                        vector_view<Exec, const std::int32_t>(args.workspace[0]),
                                        vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  std::string_view onnx_operator() const override { return "MaxPool"; }
};

class AveragePool2d final : public Pooling {
 public:
  explicit AveragePool2d(const Pool2dOptions& options)
      : Pooling("average_pool2d", options),
        divisor_(options.count_padding ? ops::Divisor::padded : ops::Divisor::covered) {}

  LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const override {
    return range.kind == SliceKind::elements
               ? LayerShard{std::make_shared<AveragePool2d>(*this), {}}
               : Layer::shard(range, inputs);
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch_stored(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      ops::average_pool2d<Exec, T>(exec, pooling(args.inputs[0]), divisor_,
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
      ops::average_pool2d_backward<Exec, T>(exec, pooling(args.inputs[0]), divisor_,
                                            vector_view<Exec, const T>(args.d_output),
                                            vector_view<Exec, T>(args.d_inputs[0]));
    });
  }

 private:
  std::string_view onnx_operator() const override { return "AveragePool"; }
  void add_onnx_attributes(std::vector<OnnxAttribute>& attributes) const override {
    attributes.push_back({"count_include_pad", std::int64_t{options().count_padding ? 1 : 0}});
  }
  ops::Divisor divisor_;
};

deck::Schema pool_schema(const std::string& name, const std::string& doc) {
  deck::Schema schema(name, doc);
  pair_key(schema, "kernel", "Kernel size: extent of the window.", 1).required().example("2");
  pair_key(schema, "stride", "Stride: step of the window; default: its extent.", 1).optional();
  pair_key(schema, "padding",
           "Padding: rows and columns around the input that no value comes from.", 0)
      .fallback(0);
  schema
      .boolean("ceil",
               "Ceil mode: whether a last window may reach beyond the input, as in Caffe, instead "
               "of being left out.")
      .fallback(false);
  return schema;
}

Pool2dOptions pool_options_of(const deck::Section& section) {
  const AxisPair kernel = pair_of(section, "kernel");
  return {.kernel = kernel,
          .stride = section.has("stride") ? pair_of(section, "stride") : kernel,
          .padding = pair_of(section, "padding"),
          .ceil = section.boolean("ceil")};
}

}  // namespace

LayerPtr max_pool2d(Pool2dOptions options) { return std::make_shared<MaxPool2d>(options); }
LayerPtr average_pool2d(Pool2dOptions options) { return std::make_shared<AveragePool2d>(options); }

Entry<LayerPtr> max_pool2d_entry() {
  return {pool_schema("max_pool2d", "Max pooling: the largest value of each window of an image."),
          [](const deck::Section& section) { return max_pool2d(pool_options_of(section)); },
          {{"MaxPool", "GlobalMaxPool", "ReduceMax"}, read_pool}};
}

Entry<LayerPtr> average_pool2d_entry() {
  deck::Schema schema =
      pool_schema("average_pool2d", "Average pooling: the mean of each window of an image.");
  schema
      .boolean(
          "count_padding",
          "Counting of padding: whether a mean counts its window's padding as zeros, as in Caffe.")
      .fallback(false);
  return {schema,
          [](const deck::Section& section) {
            Pool2dOptions options = pool_options_of(section);
            options.count_padding = section.boolean("count_padding");
            return average_pool2d(options);
          },
          {{"AveragePool", "GlobalAveragePool", "ReduceMean"}, read_pool}};
}

}  // namespace zygos::nn
