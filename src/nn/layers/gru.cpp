// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/gru.hpp"

#include "nn/entries.hpp"
#include "nn/reading/recurrent.hpp"
#include "nn/recurrent/layer.hpp"
#include "nn/recurrent/passes.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/layers.hpp"

#include <array>
#include <type_traits>

namespace zygos::nn {
namespace {

class Gru final : public RecurrentLayer {
 public:
  explicit Gru(const RecurrentOptions& options)
      : RecurrentLayer({.type = "gru",
                        .gates = gates,
                        .forward_flops = 50.0,
                        .backward_flops = 30.0,
                        .saved = 6.0,
                        .gradients = 9.0,
                        .onnx = "GRU",
                        .onnx_gates = {gru_onnx_gates.begin(), gru_onnx_gates.end()},
                        .onnx_attributes = {{"linear_before_reset", std::int64_t{1}}}},
                       options) {}

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const std::int64_t length = inputs.front()[0];
    const Shape all{batch, length, units()};
    const Shape all_gates{batch, length, columns()};
    return {{"gates", all_gates, dtype, true},
            {"candidates", all, dtype, true},
            {"before", all, dtype, true},
            {"step", Shape{batch, columns()}, dtype},
            {"hidden", Shape{batch, units()}, dtype},
            {"carry", Shape{batch, units()}, dtype},
            {"d_gates", all_gates, dtype},
            {"d_recurrent", all_gates, dtype}};
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const RecurrentSpace<Exec, T> space{recurrent_dimensions(args.inputs[0], options()),
                                          args.workspace};
      multiply_inputs<Exec, T>(exec, context, args, space.matrix_of_rows(of_gates, gates));
      const ops::GruForward<Exec, T> gru{space.dimensions,
                                         space.step(of_step, gates),
                                         vector_view<Exec, const T>(args.parameters[3]),
                                         space.rows(of_gates, gates),
                                         space.rows(of_candidates),
                                         space.rows(of_before),
                                         space.step(of_hidden),
                                         vector_view<Exec, T>(args.output)};
      for_each_step<Exec, T>(exec, context, args, space.dimensions.positions,
                             space.matrix_of_step(of_hidden), space.matrix_of_step(of_step, gates),
                             [&](std::size_t step) { ops::gru_step(exec, gru, step); });
    });
  }

  void backward(const Context& context, const BackwardArgs& args) const override {
    if (!wants_backward(args)) {
      return;
    }
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const RecurrentSpace<Exec, T> space{recurrent_dimensions(args.inputs[0], options()),
                                          args.workspace};
      const ops::GruBackward<Exec, T> gru{space.dimensions,
                                          space.rows(of_gates, gates),
                                          space.rows(of_candidates),
                                          space.rows(of_before),
                                          vector_view<Exec, const T>(args.d_output),
                                          space.step(of_hidden),
                                          space.step(of_carry),
                                          space.rows(of_d_gates, gates),
                                          space.rows(of_d_recurrent, gates),
                                          space.step(of_step, gates)};
      for_each_step_backward<Exec, T>(
          exec, context, args, space.dimensions.positions, space.matrix_of_step(of_step, gates),
          space.matrix_of_step(of_hidden),
          [&](std::size_t step) { ops::gru_step_backward(exec, gru, step); });
      finish_backward<Exec, T>(exec, context, args, space.matrix_of_rows(of_before),
                               space.matrix_of_rows(of_d_gates, gates),
                               space.matrix_of_rows(of_d_recurrent, gates));
    });
  }

 private:
  static constexpr std::size_t gates = 3;
  /// The order of workspace().
  enum Workspace : std::size_t {
    of_gates,
    of_candidates,
    of_before,
    of_step,
    of_hidden,
    of_carry,
    of_d_gates,
    of_d_recurrent
  };
};

}  // namespace

LayerPtr gru(RecurrentOptions options) { return std::make_shared<Gru>(options); }

Entry<LayerPtr> gru_entry() {
  return recurrent_entry(
      "gru",
      "Gated recurrent unit (GRU; Cho et al., 2014): a recurrent layer over a sequence of vectors, "
      "(length, features) to (length, units), in one direction, from a state of zeros; the reset "
      "gate acts behind the product, as in PyTorch.",
      gru, {{"GRU"}, read_gru});
}

}  // namespace zygos::nn
