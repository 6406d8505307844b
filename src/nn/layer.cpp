// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/layer.hpp"

#include "zygos/core/error.hpp"

#include <string>

namespace zygos::nn {
namespace {

std::string torch_name_of(const std::string& parameter) {
  if (parameter == "kernel" || parameter == "gain" || parameter == "table") {
    return "weight";
  }
  return parameter == "shift" ? "bias" : parameter;
}

}  // namespace

std::vector<ParameterSpec> Layer::parameters(std::span<const Shape>) const { return {}; }

std::vector<TorchTensor> Layer::torch_tensors(std::span<const Shape> inputs) const {
  std::vector<TorchTensor> tensors;
  for (const ParameterSpec& parameter : parameters(inputs)) {
    tensors.push_back({torch_name_of(parameter.name), tensors.size(), parameter.shape});
  }
  return tensors;
}

std::string Layer::onnx(OnnxGraph&, std::span<const std::string>, std::span<const Shape>) const {
  throw UsageError(
      "layers of type '" + std::string(type()) +
      "' have no operators of ONNX; export the weights alone, as .safetensors or .npz");
}

void Layer::require_bf16(std::span<const Shape>) const {
  throw UsageError("layers of type '" + std::string(type()) +
                   "' have no bf16 yet; take precision float32, or another layer");
}

std::vector<WorkspaceSpec> Layer::workspace(std::int64_t, std::span<const Shape>, DType) const {
  return {};
}

std::vector<ConstantSpec> Layer::constants(std::span<const Shape>, DType) const { return {}; }

std::optional<DenseForm> Layer::dense_form(std::span<const Shape>) const { return std::nullopt; }

std::int64_t Layer::statistics(std::span<const Shape>) const { return 0; }

void Layer::collect(const Context&, const ForwardArgs&, const Tensor&) const {
  throw InternalError("layers of type '" + std::string(type()) + "' have no statistics");
}

void Layer::collect_backward(const Context&, const BackwardArgs&, const Tensor&) const {
  throw InternalError("layers of type '" + std::string(type()) + "' have no statistics");
}

ShardForm Layer::shard_form(SliceKind, std::span<const Shape>) const { return {}; }

LayerShard Layer::shard(const ShardRange&, std::span<const Shape>) const {
  throw UsageError("layers of type '" + std::string(type()) + "' can't be sharded so");
}

}  // namespace zygos::nn
