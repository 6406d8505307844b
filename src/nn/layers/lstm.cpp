// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/lstm.hpp"

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

class Lstm final : public RecurrentLayer {
 public:
  explicit Lstm(const RecurrentOptions& options)
      : RecurrentLayer({.type = "lstm",
                        .gates = gates,
                        .forward_flops = 70.0,
                        .backward_flops = 45.0,
                        .saved = 7.0,
                        .gradients = 8.0,
                        .onnx = "LSTM",
                        .onnx_gates = {lstm_onnx_gates.begin(), lstm_onnx_gates.end()},
                        .onnx_attributes = {}},
                       options) {}

  std::vector<WorkspaceSpec> workspace(std::int64_t batch, std::span<const Shape> inputs,
                                       DType dtype) const override {
    const std::int64_t length = inputs.front()[0];
    const Shape all{batch, length, units()};
    const Shape all_gates{batch, length, columns()};
    return {{"gates", all_gates, dtype, true},
            {"cells", all, dtype, true},
            {"before", all, dtype, true},
            {"step", Shape{batch, columns()}, dtype},
            {"hidden", Shape{batch, units()}, dtype},
            {"carry", Shape{batch, units()}, dtype},
            {"d_gates", all_gates, dtype}};
  }

  void forward(const Context& context, const ForwardArgs& args) const override {
    lane::dispatch(context.execution, args.output.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      const RecurrentSpace<Exec, T> space{recurrent_dimensions(args.inputs[0], options()),
                                          args.workspace};
      multiply_inputs<Exec, T>(exec, context, args, space.matrix_of_rows(of_gates, gates));
      const ops::LstmForward<Exec, T> lstm{space.dimensions,
                                           space.step(of_step, gates),
                                           vector_view<Exec, const T>(args.parameters[3]),
                                           space.rows(of_gates, gates),
                                           space.rows(of_cells),
                                           space.rows(of_before),
                                           space.step(of_hidden),
                                           vector_view<Exec, T>(args.output)};
      for_each_step<Exec, T>(exec, context, args, space.dimensions.positions,
                             space.matrix_of_step(of_hidden), space.matrix_of_step(of_step, gates),
                             [&](std::size_t step) { ops::lstm_step(exec, lstm, step); });
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
      const ops::LstmBackward<Exec, T> lstm{space.dimensions,
                                            space.rows(of_gates, gates),
                                            space.rows(of_cells),
                                            vector_view<Exec, const T>(args.d_output),
                                            space.step(of_hidden),
                                            space.step(of_carry),
                                            space.rows(of_d_gates, gates),
                                            space.step(of_step, gates)};
      for_each_step_backward<Exec, T>(
          exec, context, args, space.dimensions.positions, space.matrix_of_step(of_step, gates),
          space.matrix_of_step(of_hidden),
          [&](std::size_t step) { ops::lstm_step_backward(exec, lstm, step); });
      const auto d_gates = space.matrix_of_rows(of_d_gates, gates);
      finish_backward<Exec, T>(exec, context, args, space.matrix_of_rows(of_before), d_gates,
                               d_gates);
    });
  }

 private:
  static constexpr std::size_t gates = 4;
  /// The order of workspace().
  enum Workspace : std::size_t {
    of_gates,
    of_cells,
    of_before,
    of_step,
    of_hidden,
    of_carry,
    of_d_gates
  };
};

}  // namespace

LayerPtr lstm(RecurrentOptions options) { return std::make_shared<Lstm>(options); }

Entry<LayerPtr> lstm_entry() {
  return recurrent_entry(
      "lstm",
      "Long short-term memory (LSTM; Hochreiter and Schmidhuber, 1997): a recurrent layer over a "
      "sequence of vectors, (length, features) to (length, units), in one direction, from a state "
      "of zeros.",
      lstm, {{"LSTM"}, read_lstm});
}

}  // namespace zygos::nn
