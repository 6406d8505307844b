// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes from place to place. A message lies in host memory: the sender's lane brings it there,
// the receiver's lane takes it from there.
#include "train/flat_ops.hpp"
#include "train/place/place_runner.hpp"

#include <algorithm>

namespace zygos::train {

using schedule::Payload;
using schedule::Task;
using schedule::TaskKind;

std::byte* PlaceRunner::message_memory(schedule::TaskId sender) const {
  const Task& one = task(sender);
  if (plan::is_alias(one.payload, setup_.lane.host_accessible())) {
    return static_cast<std::byte*>(operands(sender).source().tensor.raw());
  }
  return buffers_.at(plan().buffers.at(MessageBoard::in(one.writes)));
}

namespace {

/// What `place` has sent to an all-reduce.
const schedule::Buffer& message_of(const Task& one, schedule::Place place) {
  for (const schedule::Buffer& buffer : one.reads) {
    if (buffer.kind == schedule::BufferKind::message && buffer.place == place) {
      return buffer;
    }
  }
  throw InternalError("an all-reduce lacks the message of place " + std::to_string(place));
}

}  // namespace

void PlaceRunner::plan_transfers() {
  const auto outline = plan::outline_of(setup_.graph, setup_.dtype, setup_.target);
  const auto& stages = setup_.schedule.stages;
  const auto onward = activation_links(outline, stages);
  const auto back = gradient_links(outline, stages);
  for (std::size_t id = 0; id < setup_.schedule.tasks.size(); ++id) {
    const Task& one = setup_.schedule.tasks[id];
    const bool carries_samples =
        one.payload == Payload::activations || one.payload == Payload::activation_gradients;
    if (one.place != setup_.place || !carries_samples) {
      continue;
    }
    const bool sends = one.kind == TaskKind::send;
    const auto stage_of = [&](schedule::Place place) {
      return setup_.schedule.stage_of[static_cast<std::size_t>(place)];
    };
    const schedule::Stage from = stage_of(sends ? one.place : one.peer);
    const schedule::Stage to = stage_of(sends ? one.peer : one.place);
    const auto& links = one.payload == Payload::activations ? onward : back;
    const auto link = std::ranges::find_if(
        links, [&](const auto& candidate) { return candidate.from == from && candidate.to == to; });
    ZYGOS_REQUIRE(link != links.end(), "a transfer between stages that share nothing");
    Transfer& transfer = transfers_[static_cast<schedule::TaskId>(id)];
    transfer.nodes = link->tensors;
    transfer.pieces.resize(link->tensors.size());
  }
}

const Tensor& PlaceRunner::travelling(const Tensors& tensors, const Task& one,
                                      graph::NodeId node) const {
  const auto in = [&](const std::vector<Tensor>& list,
                      const std::vector<graph::NodeId>& nodes) -> const Tensor& {
    return list[static_cast<std::size_t>(plan::position(nodes, node))];
  };
  const plan::StageTensors& stage = plan().stage;
  if (one.payload == Payload::activations) {
    return one.kind == TaskKind::send ? in(tensors.outputs, stage.outputs)
                                      : in(tensors.boundary, stage.boundary);
  }
  return stage.nodes.contains(node) ? in(tensors.output_gradients, stage.output_gradients)
                                    : in(tensors.input_gradients, stage.input_gradients);
}

std::span<const lane::CopyPiece> PlaceRunner::transfer_pieces(schedule::TaskId id,
                                                              std::byte* message, bool to_message) {
  Transfer& transfer = transfers_.at(id);
  const Task& one = task(id);
  const Tensors& tensors = tensors_of(one);
  for (std::size_t i = 0; i < transfer.nodes.size(); ++i) {
    const Tensor& tensor = travelling(tensors, one, transfer.nodes[i]);
    use_->note(one, tensor);
    transfer.pieces[i] = to_message ? lane::CopyPiece{message, tensor.raw(), tensor.bytes()}
                                    : lane::CopyPiece{tensor.raw(), message, tensor.bytes()};
    message += tensor.bytes();
  }
  return transfer.pieces;
}

void PlaceRunner::send(schedule::TaskId id, const MessageBoard& board) {
  const Task& one = task(id);
  std::byte* message = board.at(MessageBoard::in(one.writes));
  use_->note_bytes(one, message, static_cast<std::size_t>(one.bytes));
  if (one.payload == Payload::activations || one.payload == Payload::activation_gradients) {
    if (tensors_of(one).samples.count() > 0) {
      setup_.lane.copy_to_host(transfer_pieces(id, message, true), "zygos::train::send");
    }
    return;
  }
  if (one.payload == Payload::statistics) {
    return send_statistics(id, message);
  }
  if (one.payload == Payload::squares) {
    const Tensor own = squares_of(plan().norm.own);
    use_->note(one, own);
    setup_.lane.copy_to_host(message, own.raw(), own.bytes(), "zygos::train::send");
    return;
  }
  const Tensor& part = operands(id).source().tensor;
  use_->note(one, part);
  // In strict mode a gradient is several partial sums, one behind the other.
  if (part.raw() != message) {
    setup_.lane.copy_to_host(message, part.raw(), static_cast<std::size_t>(one.bytes),
                             "zygos::train::send");
  }
}

void PlaceRunner::receive(schedule::TaskId id, const MessageBoard& board) {
  const Task& one = task(id);
  std::byte* message = board.at(MessageBoard::in(one.reads));
  if (one.payload == Payload::activations || one.payload == Payload::activation_gradients) {
    if (tensors_of(one).samples.count() > 0) {
      setup_.lane.copy_to_lane(transfer_pieces(id, message, false), "zygos::train::receive");
    }
    return;
  }
  const Tensor& part = operands(id).target().tensor;
  use_->note(one, part);
  setup_.lane.copy_to_lane(part.raw(), message, part.bytes(), "zygos::train::receive");
}

Tensor PlaceRunner::operand(const Task& one, const std::byte* message,
                            const Tensor& landing) const {
  // An emulated device could read the message in place; it copies, as the device it stands for.
  if (!setup_.lane.host_accessible()) {
    use_->note(one, landing);
    setup_.lane.copy_to_lane(landing.raw(), message, landing.bytes(), "zygos::train::receive");
    return landing;
  }
  const void* data =
      setup_.lane.readable(message, landing.raw(), landing.bytes(), "zygos::train::receive");
  // Tensors of constant data do not exist; it is read only.
  return {const_cast<void*>(data), landing.dtype(), landing.shape()};
}

Tensor PlaceRunner::landing(const Tensor& like, std::int32_t slot) const {
  const Tensor planned =
      buffers_.whole(schedule::BufferKind::landing, like.dtype(), like.shape(), slot);
  return planned ? planned : Tensor(nullptr, like.dtype(), like.shape());
}

void PlaceRunner::reduce(schedule::TaskId id, const MessageBoard& board) const {
  const Tensor& part = operands(id).write(schedule::BufferKind::gradients).tensor;
  const Tensor term = operand(task(id), board.at(MessageBoard::in(task(id).reads)), landing(part));
  use_->note(task(id), part);
  add_to(setup_.lane.execution_here(), part, term);
}

void PlaceRunner::sum_trees(schedule::TaskId id, const MessageBoard& board) const {
  using schedule::BufferKind;
  using schedule::TreeSum;
  const TaskOperands& named = operands(id);
  const Tensor& reduced = named.write(BufferKind::reduced_gradients).tensor;
  const auto temporary = [&](std::int32_t number) {
    return number == 0 ? reduced : landing(reduced, number - 1);
  };
  const auto value_of = [&](const TreeSum::Operand& operand) {
    if (operand.from == TreeSum::From::own) {
      return named.read(BufferKind::gradients, operand.slot).tensor;
    }
    if (operand.from == TreeSum::From::temporary) {
      return temporary(operand.slot);
    }
    std::byte* partial = board.at(message_of(task(id), operand.place)) +
                         static_cast<std::size_t>(operand.slot) * reduced.bytes();
    return Tensor(partial, reduced.dtype(), reduced.shape());
  };
  for (const TreeSum::Step& step : plan().sum.steps) {
    const Tensor target = temporary(step.target);
    const Tensor a = value_of(step.a);
    use_->note(task(id), target, a, step.adds ? value_of(step.b) : Tensor());
    if (step.adds) {
      sum_into(setup_.lane.execution_here(), target, a, value_of(step.b));
    } else if (step.a.from == TreeSum::From::message) {
      setup_.lane.copy_to_lane(target.raw(), a.raw(), a.bytes(), "zygos::train::receive");
    } else {
      copy_into(setup_.lane.execution_here(), target, a);
    }
  }
  const std::int32_t last = plan().sum.steps.back().target;
  if (last != 0) {
    copy_into(setup_.lane.execution_here(), reduced, temporary(last));
  }
}

void PlaceRunner::all_reduce(schedule::TaskId id, const MessageBoard& board) const {
  if (setup_.schedule.chunk > 0) {
    return sum_trees(id, board);
  }
  const Task& one = task(id);
  const Tensor& own = operands(id).read(schedule::BufferKind::gradients).tensor;
  const Tensor& reduced = operands(id).write(schedule::BufferKind::reduced_gradients).tensor;
  use_->note(one, own, reduced);
  // Always the same order, by place, so that every replica gets the same bits.
  Tensor sum;
  const auto add = [&](const Tensor& term) {
    if (sum) {
      sum_into(setup_.lane.execution_here(), reduced, sum, term);
    }
    sum = sum ? reduced : term;
  };
  bool own_is_due = true;
  for (const schedule::Buffer& buffer : one.reads) {
    if (buffer.kind != schedule::BufferKind::message) {
      continue;
    }
    if (own_is_due && buffer.place > one.place) {
      add(own);
      own_is_due = false;
    }
    add(operand(one, board.at(buffer), sum ? landing(reduced) : reduced));
  }
  if (own_is_due) {
    add(own);
  }
}

}  // namespace zygos::train
