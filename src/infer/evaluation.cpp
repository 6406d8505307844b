// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/evaluation.hpp"

#include "nn/activation_op.hpp"
#include "ops/mlp/mlp.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <array>
#include <type_traits>

namespace zygos::infer {

Evaluation::Evaluation(const graph::Graph& graph, DType dtype)
    : graph_(graph), dtype_(dtype), chains_(chains_of(graph, dtype)) {}

bool Evaluation::run_chain(const Chain& chain, const lane::Execution& execution,
                           std::span<const NodeCall> calls, const NodeTensors& parameters) const {
  bool runs = false;
  lane::dispatch(execution, dtype_, [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    std::array<ops::MlpLayer<Exec, T>, ops::max_mlp_layers> layers;
    for (std::size_t i = 0; i < chain.layers.size(); ++i) {
      const std::vector<Tensor>& weights = parameters[chain.first + i];
      layers[i].kernel = matrix_view<Exec, const T>(weights[0]);
      if (chain.layers[i].bias) {
        layers[i].bias = vector_view<Exec, const T>(weights[1]);
      }
      layers[i].activation = nn::op_of(chain.layers[i].activation);
    }
    const std::span<const ops::MlpLayer<Exec, T>> used(layers.data(), chain.layers.size());
    const auto inputs = matrix_view<Exec, const T>(calls[chain.first].inputs[0]);
    runs = ops::mlp_profits(used, static_cast<std::int64_t>(inputs.extent(0)));
    if (runs) {
      const std::size_t last = chain.first + chain.layers.size() - 1;
      ops::mlp(exec, used, inputs, matrix_view<Exec, T>(calls[last].output));
    }
  });
  return runs;
}

void Evaluation::run(const lane::Execution& execution, std::span<const NodeCall> calls,
                     const NodeTensors& parameters, const NodeTensors& constants) const {
  const auto nodes = graph_.nodes();
  auto chain = chains_.begin();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (chain != chains_.end() && chain->first == i) {
      const Chain& here = *chain++;
      if (run_chain(here, execution, calls, parameters)) {
        i += here.layers.size() - 1;
        continue;
      }
    }
    const nn::Context context{execution, nn::Mode::evaluate, 0, 0, nodes[i].stream, Tensor()};
    nodes[i].layer->forward(context, {calls[i].inputs, parameters[i], calls[i].workspace,
                                      calls[i].output, constants[i]});
  }
}

}  // namespace zygos::infer
