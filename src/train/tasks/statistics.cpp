// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/statistics.hpp"

#include "train/flat_ops.hpp"
#include "train/place/place_state.hpp"

#include "zygos/schedule/batch_statistics.hpp"

namespace zygos::train {
namespace {

using schedule::Task;
using schedule::TaskId;
using schedule::TaskKind;

/// What `place` has of the rows that `gathering` is about. Own rows are where the tasks put them;
/// those of other places are rows of the whole batch.
std::vector<Tensor> rows_from(const PlaceState& state, schedule::Place place,
                              const Task& gathering) {
  const PlaceSetup& setup = state.setup;
  const auto& table = state.plan().statistics.rows;
  const schedule::RowRange all =
      rows_within(table, setup.schedule().updates.at(static_cast<std::size_t>(gathering.update)));
  std::vector<Tensor> rows;
  for (const TaskId id : setup.tasks.of(place)) {
    const Task& one = state.task(id);
    const bool same = one.nodes == gathering.nodes && one.of_gradients == gathering.of_gradients &&
                      one.update == gathering.update;
    if (one.kind != TaskKind::statistics || !same) {
      continue;
    }
    const schedule::RowRange own = rows_within(table, one.samples);
    if (own.count() > 0) {
      rows.push_back(place == setup.place
                         ? statistics_in(state.buffers, one.writes.front())
                         : rows_of(statistics_in(state.buffers, gathering.writes.front()),
                                   own.begin - all.begin, own.count()));
    }
  }
  return rows;
}

}  // namespace

Gathers bind_gathers(const PlaceState& state) {
  Gathers gathers;
  for (const TaskId id : state.own_tasks()) {
    const Task& one = state.task(id);
    if (one.payload != schedule::Payload::statistics) {
      continue;
    }
    Gather& gather = gathers[id];
    for (const auto& buffer : one.kind == TaskKind::all_gather ? one.reads : one.writes) {
      if (buffer.kind == schedule::BufferKind::message) {
        gather.messages.emplace_back(buffer, rows_from(state, buffer.place, one));
        gather.pieces.resize(gather.pieces.size() + gather.messages.back().second.size());
      }
    }
  }
  return gathers;
}

namespace {

void collect(PlaceState& state, const Task& one, const SliceTensors& slice, const Tensor& row) {
  const graph::NodeId node = one.nodes.begin;
  const std::size_t index = state.index_of(node);
  const nn::Layer& layer = state.layer(node);
  const auto& parameters = state.parameters.front()[index];
  const auto& constants = state.constants[index];
  if (!one.of_gradients) {
    const NodePass& pass = slice.forward[index];
    state.use.note(one, pass);
    layer.collect(state.context(node, slice.ids),
                  {pass.inputs, parameters, pass.workspace, pass.output, constants}, row);
    return;
  }
  const NodeBackward& bound = slice.backward[index];
  state.use.note(one, bound);
  layer.collect_backward(
      state.context(node, slice.ids),
      {bound.pass.inputs, parameters, bound.pass.workspace, bound.pass.output, bound.d_output,
       bound.d_inputs, state.d_parameters.front()[index], false,
       state.averaged_samples(update_of(state.setup.schedule(), one.samples)), constants},
      row);
}

}  // namespace

void run_statistics(PlaceState& state, TaskId id) {
  const Task& one = state.task(id);
  const auto& slices = state.tensors_of(one).slices;
  const Tensor rows = statistics_in(state.buffers, one.writes.front());
  const std::int64_t count = rows ? rows.shape()[0] : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor row = rows_of(rows, i, 1);
    state.use.note(one, row);
    if (i < std::ssize(slices)) {
      collect(state, one, slices[static_cast<std::size_t>(i)], row);
    } else {
      fill_with_zeros(state.lane().execution(), row);  // of no values
    }
  }
}

void send_statistics(PlaceState& state, TaskId id, std::byte* message) {
  Gather& gather = state.gathers.at(id);
  auto piece = gather.pieces.begin();
  for (const Tensor& rows : gather.messages.front().second) {
    state.use.note(state.task(id), rows);
    *piece++ = {message, rows.raw(), rows.bytes()};
    message += rows.bytes();
  }
  state.lane().copy_to_host(gather.pieces, "zygos::train::send");
}

void run_all_gather(PlaceState& state, TaskId id, const MessageBoard& board) {
  Gather& gather = state.gathers.at(id);
  auto piece = gather.pieces.begin();
  for (const auto& [buffer, tables] : gather.messages) {
    const std::byte* message = board.at(buffer);
    for (const Tensor& rows : tables) {
      state.use.note(state.task(id), rows);
      *piece++ = {rows.raw(), message, rows.bytes()};
      message += rows.bytes();
    }
  }
  if (!gather.pieces.empty()) {
    state.lane().copy_to_lane(gather.pieces, "zygos::train::receive");
  }
}

}  // namespace zygos::train
