// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/transfer.hpp"

#include "train/place/place_state.hpp"
#include "train/tasks/coded_messages.hpp"

#include <algorithm>
#include <span>

namespace zygos::train {
namespace {

using schedule::Payload;
using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

bool carries_samples(const Task& one) {
  return one.payload == Payload::activations || one.payload == Payload::activation_gradients;
}

bool copies_activations(const Task& one) {
  return one.kind == TaskKind::offload_activations || one.kind == TaskKind::fetch_activations;
}

/// Both buffers consist of the same tensors.
Transfer copy_of_segment(const PlaceState& state, const Task& one) {
  const plan::PlannedBuffer& from = state.plan().buffers.at(one.reads.front());
  const plan::PlannedBuffer& to = state.plan().buffers.at(one.writes.front());
  Transfer transfer;
  for (const plan::Slot& slot : from.slots.all()) {
    if (slot.bytes > 0) {
      transfer.pieces.push_back({state.buffers.at(to) + to.slots.at(slot.name).offset,
                                 state.buffers.at(from) + slot.offset, slot.bytes});
    }
  }
  return transfer;
}

}  // namespace

Transfers bind_transfers(const PlaceState& state) {
  Transfers transfers;
  const PlaceSetup& setup = state.setup;
  const auto outline = plan::outline_of(setup.graph, setup.dtype, setup.target);
  const auto onward = activation_links(outline, setup.schedule().stages);
  const auto back = gradient_links(outline, setup.schedule().stages);
  for (const TaskId id : state.own_tasks()) {
    const Task& one = state.task(id);
    if (copies_activations(one)) {
      transfers.emplace(id, copy_of_segment(state, one));
    }
    if (!carries_samples(one)) {
      continue;
    }
    const bool sends = one.kind == TaskKind::send;
    const auto stage_of = [&](schedule::Place place) {
      return setup.schedule().stage_of[static_cast<std::size_t>(place)];
    };
    const schedule::Stage from = stage_of(sends ? one.place : one.peer);
    const schedule::Stage to = stage_of(sends ? one.peer : one.place);
    const auto& links = one.payload == Payload::activations ? onward : back;
    const auto link = std::ranges::find_if(
        links, [&](const auto& candidate) { return candidate.from == from && candidate.to == to; });
    ZYGOS_REQUIRE(link != links.end(), "a transfer between stages that share nothing");
    Transfer& transfer = transfers[id];
    transfer.nodes = link->tensors;
    transfer.pieces.resize(link->tensors.size());
    transfer.tensors.resize(link->tensors.size());
  }
  return transfers;
}

std::byte* message_memory(const PlaceState& state, TaskId sender) {
  const Task& one = state.task(sender);
  if (schedule::is_read_in_place(one, state.lane().host_accessible())) {
    return static_cast<std::byte*>(state.operands_of(sender).source().tensor.raw());
  }
  return state.buffers.at(state.plan().buffers.at(MessageBoard::in(one.writes)));
}

namespace {

const Tensor& of_micro_batch(const PlaceState& state, const Task& one, graph::NodeId node) {
  const auto in = [&](const std::vector<Tensor>& list,
                      const std::vector<graph::NodeId>& nodes) -> const Tensor& {
    return list[static_cast<std::size_t>(plan::position(nodes, node))];
  };
  const MicroBatchTensors& tensors = state.tensors_of(one);
  const plan::StageTensors& stage = state.plan().stage;
  if (one.payload == Payload::activations) {
    return one.kind == TaskKind::send ? in(tensors.outputs, stage.outputs)
                                      : in(tensors.boundary, stage.boundary);
  }
  return stage.nodes.contains(node) ? in(tensors.output_gradients, stage.output_gradients)
                                    : in(tensors.input_gradients, stage.input_gradients);
}

Tensor travelling(const PlaceState& state, const Task& one, graph::NodeId node) {
  const schedule::SampleRange samples = state.carried(one);
  return of_micro_batch(state, one, node).samples(samples.begin, samples.count());
}

/// Encodes or decodes a message tensor by tensor.
void run_coded_samples(PlaceState& state, TaskId id, std::byte* message) {
  const Task& one = state.task(id);
  std::vector<Tensor>& tensors = state.transfers.at(id).tensors;
  const auto& nodes = state.transfers.at(id).nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    tensors[i] = travelling(state, one, nodes[i]);
    state.use.note(one, tensors[i]);
  }
  one.kind == TaskKind::send ? send_coded(state, one, tensors, message)
                             : receive_coded(state, one, tensors, message);
}

std::span<const lane::CopyPiece> transfer_pieces(PlaceState& state, TaskId id, std::byte* message,
                                                 bool to_message) {
  Transfer& transfer = state.transfers.at(id);
  const Task& one = state.task(id);
  for (std::size_t i = 0; i < transfer.nodes.size(); ++i) {
    const Tensor tensor = travelling(state, one, transfer.nodes[i]);
    state.use.note(one, tensor);
    transfer.pieces[i] = to_message ? lane::CopyPiece{message, tensor.raw(), tensor.bytes()}
                                    : lane::CopyPiece{tensor.raw(), message, tensor.bytes()};
    message += tensor.bytes();
  }
  return transfer.pieces;
}

}  // namespace

void run_send(PlaceState& state, TaskId id, const MessageBoard& board) {
  const Task& one = state.task(id);
  std::byte* message = board.at(MessageBoard::in(one.writes));
  state.use.note_bytes(one, message, static_cast<std::size_t>(max_bytes(one)));
  if (carries_samples(one)) {
    const bool empty = state.carried(one).count() == 0;
    if (!empty && state.codec_of(one) != schedule::Codec::exact) {
      run_coded_samples(state, id, message);
    } else if (!empty) {
      const auto pieces = transfer_pieces(state, id, message, true);
      one.local ? state.lane().copy_on_lane(pieces, "zygos::train::send")
                : state.lane().copy_to_host(pieces, "zygos::train::send");
    }
    return;
  }
  if (one.payload == Payload::statistics) {
    return send_statistics(state, id, message);
  }
  if (one.payload == Payload::squares) {
    return send_squares(state, id, message);
  }
  const Tensor& part = state.operands_of(id).source().tensor;
  state.use.note(one, part);
  if (state.codec_of(one) != schedule::Codec::exact) {
    return send_coded(state, one, {&part, 1}, message);
  }
  // In strict mode a gradient is several partial sums, one behind the other.
  if (part.raw() != message) {
    const std::int64_t bytes = one.exact_bytes > 0 ? one.exact_bytes : one.bytes;
    state.lane().copy_to_host(message, part.raw(), static_cast<std::size_t>(bytes),
                              "zygos::train::send");
  }
}

void run_receive(PlaceState& state, TaskId id, const MessageBoard& board) {
  const Task& one = state.task(id);
  std::byte* message = board.at(MessageBoard::in(one.reads));
  if (carries_samples(one)) {
    const bool empty = state.carried(one).count() == 0;
    if (!empty && state.codec_of(one) != schedule::Codec::exact) {
      run_coded_samples(state, id, message);
    } else if (!empty) {
      const auto pieces = transfer_pieces(state, id, message, false);
      one.local ? state.lane().copy_on_lane(pieces, "zygos::train::receive")
                : state.lane().copy_to_lane(pieces, "zygos::train::receive");
    }
    return;
  }
  const Tensor& part = state.operands_of(id).target().tensor;
  state.use.note(one, part);
  if (state.codec_of(one) != schedule::Codec::exact) {
    return receive_coded(state, one, {&part, 1}, message);
  }
  state.lane().copy_to_lane(part.raw(), message, part.bytes(), "zygos::train::receive");
}

void run_copy_activations(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto& pieces = state.transfers.at(id).pieces;
  if (pieces.empty() || state.tensors_of(one).samples.count() == 0) {
    return;
  }
  for (const lane::CopyPiece& piece : pieces) {
    state.use.note_bytes(one, piece.to, piece.bytes);
    state.use.note_bytes(one, piece.from, piece.bytes);
  }
  if (one.kind == TaskKind::offload_activations) {
    state.lane().copy_to_host(pieces, "zygos::train::offload_activations");
  } else {
    state.lane().copy_to_lane(pieces, "zygos::train::fetch_activations");
  }
}

void run_copy_weights(PlaceState& state, TaskId id) {
  const TaskOperands& named = state.operands_of(id);
  state.use.note(state.task(id), named.target().tensor, named.source().tensor);
  copy_elements(state.lane(), named.target(), named.source());
}

}  // namespace zygos::train
