// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a layer is. To add one, copy src/nn/layers/dense.cpp and add a line to src/nn/registry.cpp.
#pragma once

#include "zygos/core/philox.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/core/slice.hpp"
#include "zygos/lane/execution.hpp"
#include "zygos/tensor/initialiser.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::nn {

class OnnxGraph;

enum class Mode { train, evaluate };

/// Work of one pass over `batch` samples, for the planner: floating-point operations and bytes that
/// must move between memory and cores (each operand once).
struct Cost {
  double flops = 0.0;
  double bytes = 0.0;
  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

/// A parameter a layer wants; the graph prefixes the layer's name: "fc1/kernel".
struct ParameterSpec {
  std::string name;
  Shape shape;
  Initialiser init;
  bool decay = true;  ///< weight decay applies (not to biases)
  /// Not trained: every update subtracts the gradient itself, whatever the optimizer. So what a
  /// layer counts over a batch goes the way of gradients, and is exact however the batch is cut.
  bool statistic = false;
};

/// A tensor of the PyTorch module that does what a layer does, made of one of its parameters.
struct TorchTensor {
  std::string name;           ///< within the module: "weight"
  std::size_t parameter = 0;  ///< index into Layer::parameters()
  Shape shape;                ///< in PyTorch
  std::int64_t begin = 0;     ///< its first row in the parameter, of which it may be a part
  bool transposed = false;    ///< rows and columns change places; otherwise elements lie alike
};

/// Scratch or state a layer keeps from forward to backward, per lane and batch.
struct WorkspaceSpec {
  std::string name;
  Shape shape;
  DType dtype;
  bool kept = false;  ///< true: forward's values are needed in backward (charged to activations)
};

/// Constants that a layer reads, not trained, such as a sparse matrix. They lie beside the
/// weights of every place that runs the layer and are filled once, before step 0.
struct ConstantSpec {
  std::string name;
  Shape shape;
  DType dtype;
  std::function<void(void*)> fill;  ///< writes all elements to host memory, row major
};

/// What a layer may know while it runs: no lane set, no deck, no schedule.
struct Context {
  const lane::Execution& execution;  ///< instance of the layer's lane
  Mode mode = Mode::train;           ///< of a frozen layer always evaluate, in backward, too
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t layer = 0;  ///< index in the graph: the RNG stream
  Tensor sample_ids;        ///< (N) u32 in lane memory, the samples' ids in the data set
  bool tf32 = false;        ///< products of f32 may round operands to TF32 where the device has it
  /// In the lane's memory: the step that random numbers are of when a kernel runs, in place of
  /// `step`, so that a pass can be recorded once and launched again. Null: `step` says.
  const std::uint64_t* step_on_lane = nullptr;
};

/// Tensors of a forward pass; all first dimensions are N, the samples of this call.
struct ForwardArgs {
  std::span<const Tensor> inputs;
  std::span<const Tensor> parameters;
  std::span<const Tensor> workspace;
  Tensor output;
  std::span<const Tensor> constants{};
  /// Of a batch that is divided: (parts, 1 + Layer::statistics()) f64 of all its parts. Empty: the
  /// call has all samples that statistics are to be of.
  Tensor batch_statistics{};
};

/// Tensors of a backward pass. d_inputs are overwritten, not added to; d_parameters are, too,
/// unless `accumulates`. An empty d_input means that nobody wants it (first layer).
struct BackwardArgs {
  std::span<const Tensor> inputs;
  std::span<const Tensor> parameters;
  std::span<const Tensor> workspace;
  Tensor output;
  Tensor d_output;
  std::span<const Tensor> d_inputs;
  std::span<const Tensor> d_parameters;
  bool accumulates = false;  ///< d_parameters hold the gradient of earlier micro-batches: add to it
  std::int64_t global_batch = 1;  ///< samples that this gradient is a mean over
  std::span<const Tensor> constants{};
  Tensor batch_statistics{};  ///< as in ForwardArgs, of gradients
  Tensor own_statistics{};    ///< the row of this call's samples in there
  /// False of a frozen layer: whatever is in d_parameters afterwards, nobody reads it. To leave
  /// them alone saves their computation.
  bool wants_d_parameters = true;
};

enum class Activation;  // nn/layers.hpp

/// y = f(x W + b) of a whole sample: of which small multilayer perceptrons are made.
struct DenseForm {
  std::int64_t inputs;
  std::int64_t outputs;
  Activation activation;
  bool bias;
};

class Layer;
using LayerPtr = std::shared_ptr<const Layer>;

/// Which part of a parameter of the whole layer is a parameter of a slice: [begin, end) of each of
/// `parts` equal parts of an axis.
struct ParameterRange {
  std::size_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t parts = 1;
};

/// A slice of a layer as a layer.
struct LayerShard {
  LayerPtr layer;
  /// By parameter of the whole layer; nothing: the slice does not have it. What slices have is all
  /// of a parameter, once.
  std::vector<std::optional<ParameterRange>> parameters;
  LayerPtr epilogue{};  ///< partial sums: what follows their sum, or null
};

/// Immutable description plus the two passes. Shapes given and returned are sample shapes, without
/// the batch extent. Implementations keep no tensors and no mutable state, so one object serves
/// every lane at once.
class Layer {
 public:
  virtual ~Layer() = default;

  /// Deck keyword, "dense".
  virtual std::string_view type() const = 0;
  /// Not 0: the input holds token ids, whole numbers below this. Such a layer reads the model's
  /// input, gives it no gradient, and data are checked when they are loaded.
  virtual std::int64_t token_limit() const { return 0; }
  /// Throws UsageError unless the passes take inputs, outputs and their gradients of bf16, beside
  /// parameters and gradients of these of float (see Wide). A layer that does not say so does not.
  virtual void require_bf16(std::span<const Shape> inputs) const;
  /// Output sample shape; throws UsageError that says what was found and what is allowed.
  virtual Shape infer(std::span<const Shape> inputs) const = 0;
  virtual std::vector<ParameterSpec> parameters(std::span<const Shape> inputs) const;
  /// The state_dict of the PyTorch module that does the same (docs/exchange.md), which holds every
  /// element of every parameter once. By default a tensor for each: a kernel, gain or table is the
  /// "weight", a shift the "bias", and others keep their names.
  virtual std::vector<TorchTensor> torch_tensors(std::span<const Shape> inputs) const;
  /// Appends the operators of ONNX that compute forward() in evaluation mode, of the tensors of
  /// these names and sample shapes, and returns the name of the output. Throws UsageError for a
  /// layer that has none.
  virtual std::string onnx(OnnxGraph& graph, std::span<const std::string> inputs,
                           std::span<const Shape> shapes) const;
  virtual std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                               DType dtype) const;
  /// Not empty: the forward pass is this and no more, of parameters W (inputs, outputs) and b. What
  /// runs layers may then run several in one kernel.
  virtual std::optional<DenseForm> dense_form(std::span<const Shape> inputs) const;
  /// The same for every batch; `dtype` is that of the weights.
  virtual std::vector<ConstantSpec> constants(std::span<const Shape> inputs, DType dtype) const;
  /// Samples that are more than each by itself: a batch is divided only between multiples of so
  /// many.
  virtual std::int64_t samples_together() const { return 1; }
  /// Numbers that the layer needs of all samples of an update before it can work on one, and as
  /// many before backward, such as means. 0: it has no need of other samples. Where a batch is
  /// divided, each part's are collected by the two functions below, and the passes have those of
  /// all parts.
  virtual std::int64_t statistics(std::span<const Shape> inputs) const;
  /// row (1 + statistics) f64: how many values they are of, then the numbers. Parameters are not
  /// read, nor is anything written but the row.
  virtual void collect(const Context& context, const ForwardArgs& args, const Tensor& row) const;
  virtual void collect_backward(const Context& context, const BackwardArgs& args,
                                const Tensor& row) const;
  /// How the layer can be cut for tensor parallelism along its outputs, inputs or elements; no
  /// units: it cannot be cut so.
  virtual ShardForm shard_form(SliceKind kind, std::span<const Shape> inputs) const;
  /// The slice of a range of these units; `inputs` are those of the whole layer. The sum of all
  /// partial sums is the whole output before its epilogue; a bias belongs to the slice that begins
  /// at 0.
  virtual LayerShard shard(const ShardRange& range, std::span<const Shape> inputs) const;
  virtual Cost forward_cost(std::int64_t batch, std::span<const Shape> inputs,
                            DType dtype) const = 0;
  /// `wants_d_input`: false for a first layer, which saves a GEMM.
  virtual Cost backward_cost(std::int64_t batch, std::span<const Shape> inputs, DType dtype,
                             bool wants_d_input) const = 0;
  virtual void forward(const Context& context, const ForwardArgs& args) const = 0;
  virtual void backward(const Context& context, const BackwardArgs& args) const = 0;
};

}  // namespace zygos::nn
