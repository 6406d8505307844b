// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/compress.hpp"

#include "train/place/place_state.hpp"

namespace zygos::train {
namespace {

using schedule::BufferKind;

/// Of the samples of this call. Those of all workers sum to 1, however unequal they are.
double share_of(const PlaceState& state) {
  std::int64_t own = 0;
  const BatchTensors& batch = state.current();
  for (std::size_t i = 0; i < batch.micro_batches.size(); ++i) {
    own += state.mine[i] ? batch.micro_batches[i].samples.count() : 0;
  }
  return static_cast<double>(own) / static_cast<double>(batch.given);
}

}  // namespace

void run_compress(PlaceState& state, schedule::TaskId id) {
  const schedule::Task& one = state.task(id);
  const TaskOperands& named = state.operands_of(id);
  nn::CompressArgs args;
  args.gradient = named.write(BufferKind::gradients).tensor;
  args.error =
      named.write(one.reduced ? BufferKind::sum_error : BufferKind::compression_error).tensor;
  // Buffers of a part that compression will use: also in the steps before it begins.
  state.use.note(one, args.gradient, args.error);
  if (!compresses(state.setup.schedule(), state.inputs.step)) {
    return;
  }
  for (const Elements& operand : named.reads) {
    if (operand.kind == BufferKind::optimizer_state) {
      args.states.push_back(operand.tensor);
    }
  }
  state.use.note(one, args.states);
  args.step = state.inputs.step;
  args.share = share_of(state);
  args.of_sum = one.reduced;
  state.setup.optimizer.compress(state.lane().execution(), args);
}

}  // namespace zygos::train
