// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/checks.hpp"
#include "nn/entries.hpp"
#include "ops/elementwise/copy_samples.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/onnx.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::nn {
namespace {

class Transpose final : public Layer {
 public:
  std::string_view type() const override { return "transpose"; }
  void require_bf16(std::span<const Shape>) const override {}

  Shape infer(std::span<const Shape> inputs) const override {
    const Shape& shape = only_input(type(), inputs);
    if (shape.rank() < 2 || shape.size() == 0) {
      throw UsageError("transpose: the input of shape " + shape.text() +
                       " has no first axis to be made the last one; it must be [channels, ...]");
    }
    return Shape{shape.size() / shape[0], shape[0]};
  }

  Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype) const override {
    const double elements =
        static_cast<double>(batch) * static_cast<double>(only_input(type(), inputs).size());
    return {0.0, 2.0 * elements * static_cast<double>(size_of(dtype))};
  }

  Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                     bool wants_d_input) const override {
    return wants_d_input ? forward_cost(batch, inputs, dtype) : Cost{};
  }

  std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                   std::span<const Shape> shapes) const override {
    const Shape output = infer(shapes);
    const std::string rows = shapes[0].rank() == 2
                                 ? inputs[0]
                                 : onnx_reshape(graph, inputs[0], Shape{output[1], output[0]});
    return graph.add("Transpose", {rows}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    const Shape& shape = args.output.shape();
    copy(context, args.inputs[0], args.output, shape[1], shape[2]);
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (args.d_inputs[0]) {
      const Shape& shape = args.output.shape();
      copy(context, args.d_output, args.d_inputs[0], shape[2], shape[1]);
    }
  }

 private:
  /// Samples (columns, rows) to (rows, columns).
  static void copy(const Context& context, const Tensor& from, const Tensor& to, std::int64_t rows,
                   std::int64_t columns) {
    lane::dispatch_stored(context.execution, from.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const ops::SampleLayout layout{2, {rows, columns}, {1, rows}, {columns, 1}};
      ops::copy_samples<Exec, T, T>(exec, from.shape()[0], layout, from.data<T>(), rows * columns,
                                    to.data<T>(), rows * columns);
    });
  }
};

}  // namespace

LayerPtr transpose() { return std::make_shared<Transpose>(); }

Entry<LayerPtr> transpose_entry() {
  return {deck::Schema("transpose",
                       "Transposition: the first axis of a sample becomes its last one, (channels, "
                       "height, width) to (height x width, channels): of an image's places a "
                       "sequence of vectors, and of (length, units) the transposed matrix."),
          [](const deck::Section&) { return transpose(); }};
}

}  // namespace zygos::nn
