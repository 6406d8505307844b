// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/reduce.hpp"

#include "train/flat_ops.hpp"
#include "train/place/place_state.hpp"
#include "train/tasks/coded_messages.hpp"
#include "train/tasks/update.hpp"

#include <string>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using schedule::Task;
using schedule::TaskId;
using schedule::TreeSum;

/// What `place` has sent to an all-reduce.
const schedule::Buffer& message_of(const Task& one, schedule::Place place) {
  for (const schedule::Buffer& buffer : one.reads) {
    if (buffer.kind == BufferKind::message && buffer.place == place) {
      return buffer;
    }
  }
  throw InternalError("an all-reduce lacks the message of place " + std::to_string(place));
}

/// A peer's part of the gradient as a tensor this lane can read, copied if it has to be.
Tensor operand(PlaceState& state, const Task& one, const std::byte* message,
               const Tensor& landing) {
  const lane::Lane& lane = state.lane();
  // An emulated device could read the message in place; it copies, as the device it stands for.
  if (!lane.host_accessible()) {
    state.use.note(one, landing);
    lane.copy_to_lane(landing.raw(), message, landing.bytes(), "zygos::train::receive");
    return landing;
  }
  const void* data =
      lane.readable(message, landing.raw(), landing.bytes(), "zygos::train::receive");
  // Tensors of constant data do not exist; it is read only.
  return {const_cast<void*>(data), landing.dtype(), landing.shape()};
}

/// Where as many elements as those of `like` can land; strict mode: one of several such places.
Tensor landing(const PlaceState& state, const Tensor& like, std::int32_t slot = 0) {
  const Tensor planned = state.buffers.whole(BufferKind::landing, like.dtype(), like.shape(), slot);
  return planned ? planned : Tensor(nullptr, like.dtype(), like.shape());
}

/// Number 0 is the sum itself, the others are landings.
Tensor temporary(const PlaceState& state, const Tensor& reduced, std::int32_t number) {
  return number == 0 ? reduced : landing(state, reduced, number - 1);
}

/// What a step of the tree reads.
Tensor value_of(const PlaceState& state, TaskId id, const MessageBoard& board,
                const Tensor& reduced, const TreeSum::Operand& operand) {
  if (operand.from == TreeSum::From::own) {
    return state.operands_of(id).read(BufferKind::gradients, operand.slot).tensor;
  }
  if (operand.from == TreeSum::From::temporary) {
    return temporary(state, reduced, operand.slot);
  }
  std::byte* partial = board.at(message_of(state.task(id), operand.place)) +
                       static_cast<std::size_t>(operand.slot) * reduced.bytes();
  return {partial, reduced.dtype(), reduced.shape()};
}

/// Strict mode: as the tree says.
void sum_trees(PlaceState& state, TaskId id, const MessageBoard& board) {
  const lane::Lane& lane = state.lane();
  const Tensor& reduced = state.operands_of(id).write(BufferKind::reduced_gradients).tensor;
  const auto value = [&](const TreeSum::Operand& operand) {
    return value_of(state, id, board, reduced, operand);
  };
  for (const TreeSum::Step& step : state.plan().sum.steps) {
    const Tensor target = temporary(state, reduced, step.target);
    const Tensor a = value(step.a);
    state.use.note(state.task(id), target, a, step.adds ? value(step.b) : Tensor());
    if (step.adds) {
      sum_into(lane.execution_here(), target, a, value(step.b));
    } else if (step.a.from == TreeSum::From::message) {
      lane.copy_to_lane(target.raw(), a.raw(), a.bytes(), "zygos::train::receive");
    } else {
      copy_into(lane.execution_here(), target, a);
    }
  }
  const std::int32_t last = state.plan().sum.steps.back().target;
  if (last != 0) {
    copy_into(lane.execution_here(), reduced, temporary(state, reduced, last));
  }
}

}  // namespace

void run_reduce(PlaceState& state, TaskId id, const MessageBoard& board) {
  const Task& one = state.task(id);
  const Tensor& part = state.operands_of(id).write(BufferKind::gradients).tensor;
  if (state.codec_of(one) != schedule::Codec::exact) {
    state.use.note(one, part);
    return add_coded(state, one, part, part, board.at(MessageBoard::in(one.reads)));
  }
  const Tensor term =
      operand(state, one, board.at(MessageBoard::in(one.reads)), landing(state, part));
  state.use.note(one, part);
  add_to(state.lane().execution_here(), part, term);
}

void run_all_reduce(PlaceState& state, TaskId id, const MessageBoard& board) {
  if (state.setup.schedule().chunk > 0) {
    return sum_trees(state, id, board);
  }
  const Task& one = state.task(id);
  const Tensor& own = state.operands_of(id).read(BufferKind::gradients).tensor;
  const Tensor& reduced = state.operands_of(id).write(BufferKind::reduced_gradients).tensor;
  state.use.note(one, own, reduced);
  // Always the same order, by place, so that every replica gets the same bits.
  Tensor sum;
  const auto add = [&](const Tensor& term) {
    if (sum) {
      sum_into(state.lane().execution_here(), reduced, sum, term);
    }
    sum = sum ? reduced : term;
  };
  bool own_is_due = true;
  for (const schedule::Buffer& buffer : one.reads) {
    if (buffer.kind != BufferKind::message) {
      continue;
    }
    if (own_is_due && buffer.place > one.place) {
      add(own);
      own_is_due = false;
    }
    if (state.codec_of(one) == schedule::Codec::exact) {
      add(operand(state, one, board.at(buffer), sum ? landing(state, reduced) : reduced));
    } else if (sum) {
      add_coded(state, one, reduced, sum, board.at(buffer));
      sum = reduced;
    } else {
      receive_coded(state, one, {&reduced, 1}, board.at(buffer));
      sum = reduced;
    }
  }
  if (own_is_due) {
    add(own);
  }
}

void run_average(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  if (state.inputs.step % static_cast<std::uint64_t>(one.every) != 0) {
    return;
  }
  const TaskOperands& named = state.operands_of(id);
  const Elements& current = named.write(BufferKind::weights);
  double versions = 0.0;
  for (const Elements& version : named.reads) {
    state.use.note(one, version.tensor);
    versions += 1.0;
  }
  // What is frozen is the same in all of them, but not the bits of its mean.
  for_each_unfrozen(state.setup.graph, current.range, [&](schedule::ElementRange elements) {
    const Tensor mean = current.part(elements);
    for (const Elements& version : named.reads) {
      if (version.slot > 0) {
        add_to(state.lane().execution(), mean, version.part(elements));
      }
    }
    scale_by(state.lane().execution(), mean, 1.0 / versions);
  });
}

}  // namespace zygos::train
