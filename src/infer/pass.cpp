// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/pass.hpp"

#include "infer/chains.hpp"

#include <algorithm>
#include <numeric>

namespace zygos::infer {
namespace {

Tensor moved_to(void* address, const Tensor& tensor) {
  return {address, tensor.dtype(), tensor.shape()};
}

std::size_t bytes_of(DType dtype, const Shape& shape) {
  return memory::padded(static_cast<std::size_t>(shape.size()) * size_of(dtype));
}

}  // namespace

Pass::Pass(const graph::Graph& graph, DType dtype, std::int64_t samples)
    : samples_(samples),
      input_(nullptr, graph.input_dtype(dtype), graph.input_shape().with_leading(samples)) {
  for (const graph::Node& node : graph.nodes()) {
    NodeCall& call = nodes_.emplace_back();
    call.inputs.resize(node.inputs.size());
    call.output = Tensor(nullptr, dtype, node.output_shape.with_leading(samples));
    for (const auto& spec : node.layer->workspace(samples, node.input_shapes, dtype)) {
      call.workspace.emplace_back(nullptr, spec.dtype, spec.shape);
    }
    sources_.push_back(node.inputs);
  }
  lay_out(graph, dtype);
}

void Pass::lay_out(const graph::Graph& graph, DType dtype) {
  // Node i runs at moment i + 1, or a kernel at all moments of a chain; the input is there before
  // the first one.
  const auto end = static_cast<std::int64_t>(graph.nodes().size());
  std::vector<std::int64_t> last_read(graph.nodes().size(), 0);
  last_read.back() = end;
  std::int64_t input_read = 0;
  std::vector<std::int64_t> reads_until(graph.nodes().size());
  std::iota(reads_until.begin(), reads_until.end(), std::int64_t{1});
  for (const Chain& chain : chains_of(graph, dtype)) {
    reads_until[chain.first] = static_cast<std::int64_t>(chain.first + chain.layers.size());
  }
  for (std::size_t node = 0; node < sources_.size(); ++node) {
    for (const graph::NodeId source : sources_[node]) {
      const std::int64_t moment = reads_until[node];
      auto& last =
          source == graph::graph_input ? input_read : last_read[static_cast<std::size_t>(source)];
      last = std::max(last, moment);
    }
  }
  live_.push_back({bytes_of(input_.dtype(), input_.shape()), 0, input_read});
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const auto moment = static_cast<std::int64_t>(node) + 1;
    const Tensor& output = nodes_[node].output;
    live_.push_back(
        {bytes_of(output.dtype(), output.shape()), moment, std::max(moment, last_read[node])});
    for (const Tensor& scratch : nodes_[node].workspace) {
      live_.push_back({bytes_of(scratch.dtype(), scratch.shape()), moment, moment});
    }
  }
  bytes_ = memory::pack(live_);
}

void Pass::bind(std::byte* workspace) {
  auto next = live_.begin();
  const auto take = [&](Tensor& tensor) {
    tensor = moved_to(workspace + (next++)->offset, tensor);
  };
  take(input_);
  for (NodeCall& call : nodes_) {
    take(call.output);
    for (Tensor& scratch : call.workspace) {
      take(scratch);
    }
  }
  output_ = nodes_.back().output;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (std::size_t i = 0; i < sources_[node].size(); ++i) {
      const graph::NodeId source = sources_[node][i];
      nodes_[node].inputs[i] =
          source == graph::graph_input ? input_ : nodes_[static_cast<std::size_t>(source)].output;
    }
  }
}

void Pass::redirect(void* input, void* output) {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (std::size_t i = 0; i < sources_[node].size(); ++i) {
      if (sources_[node][i] == graph::graph_input) {
        nodes_[node].inputs[i] = moved_to(input, input_);
      }
    }
  }
  nodes_.back().output = moved_to(output, output_);
}

}  // namespace zygos::infer
