// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a divided batch: each slice has a row in a table, other places' rows come by
// message, and layers read the rows of all samples that an update averages over.
#include "train/flat_ops.hpp"
#include "train/place/place_runner.hpp"

#include "zygos/schedule/batch_statistics.hpp"

namespace zygos::train {

using schedule::Task;
using schedule::TaskKind;

void PlaceRunner::plan_gathers() {
  const auto& tasks = setup_.schedule.tasks;
  const auto same = [](const Task& one, const Task& other) {
    return one.nodes == other.nodes && one.of_gradients == other.of_gradients &&
           one.update == other.update;
  };
  // Own rows are where the tasks put them; those of other places are rows of the whole batch.
  const auto rows_from = [&](schedule::Place place, const Task& gathering) {
    const schedule::RowRange all =
        rows_within(plan().statistics.rows,
                    setup_.schedule.updates.at(static_cast<std::size_t>(gathering.update)));
    std::vector<Tensor> rows;
    for (const Task& one : tasks) {
      if (one.kind != TaskKind::statistics || one.place != place || !same(one, gathering)) {
        continue;
      }
      const schedule::RowRange own = rows_within(plan().statistics.rows, one.samples);
      if (own.count() > 0) {
        rows.push_back(place == setup_.place
                           ? statistics_in(buffers_, one.writes.front())
                           : rows_of(statistics_in(buffers_, gathering.writes.front()),
                                     own.begin - all.begin, own.count()));
      }
    }
    return rows;
  };
  for (std::size_t index = 0; index < tasks.size(); ++index) {
    const Task& one = tasks[index];
    if (one.place != setup_.place || one.payload != schedule::Payload::statistics) {
      continue;
    }
    Gather& gather = gathers_[static_cast<schedule::TaskId>(index)];
    for (const auto& buffer : one.kind == TaskKind::all_gather ? one.reads : one.writes) {
      if (buffer.kind == schedule::BufferKind::message) {
        gather.messages.emplace_back(buffer, rows_from(buffer.place, one));
        gather.pieces.resize(gather.pieces.size() + gather.messages.back().second.size());
      }
    }
  }
}

void PlaceRunner::statistics(const Task& one) {
  const auto& slices = tensors_of(one).slices;
  const Tensor rows = statistics_in(buffers_, one.writes.front());
  const std::int64_t count = rows ? rows.shape()[0] : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor row = rows_of(rows, i, 1);
    use_->note(one, row);
    if (i < std::ssize(slices)) {
      collect(one, slices[static_cast<std::size_t>(i)], row);
    } else {
      fill_with_zeros(setup_.lane.execution(), row);  // of no values
    }
  }
}

void PlaceRunner::collect(const Task& one, const SliceTensors& slice, const Tensor& row) {
  const graph::NodeId node = one.nodes.begin;
  const auto index = static_cast<std::size_t>(node - plan().stage.nodes.begin);
  const nn::Layer& layer = *setup_.graph.nodes()[static_cast<std::size_t>(node)].layer;
  const auto& parameters = parameters_.front()[index];
  if (!one.of_gradients) {
    const NodePass& pass = slice.forward[index];
    use_->note(one, pass);
    layer.collect(context(node, slice.ids),
                  {pass.inputs, parameters, pass.workspace, pass.output, constants_[index]}, row);
    return;
  }
  const NodeBackward& bound = slice.backward[index];
  use_->note(one, bound);
  layer.collect_backward(
      context(node, slice.ids),
      {bound.pass.inputs, parameters, bound.pass.workspace, bound.pass.output, bound.d_output,
       bound.d_inputs, d_parameters_.front()[index], false,
       averaged_samples(update_of(setup_.schedule, one.samples)), constants_[index]},
      row);
}

void PlaceRunner::send_statistics(schedule::TaskId id, std::byte* message) {
  Gather& gather = gathers_.at(id);
  auto piece = gather.pieces.begin();
  for (const Tensor& rows : gather.messages.front().second) {
    use_->note(task(id), rows);
    *piece++ = {message, rows.raw(), rows.bytes()};
    message += rows.bytes();
  }
  setup_.lane.copy_to_host(gather.pieces, "zygos::train::send");
}

void PlaceRunner::all_gather(schedule::TaskId id, const MessageBoard& board) {
  Gather& gather = gathers_.at(id);
  auto piece = gather.pieces.begin();
  for (const auto& [buffer, tables] : gather.messages) {
    const std::byte* message = board.at(buffer);
    for (const Tensor& rows : tables) {
      use_->note(task(id), rows);
      *piece++ = {rows.raw(), message, rows.bytes()};
      message += rows.bytes();
    }
  }
  if (!gather.pieces.empty()) {
    setup_.lane.copy_to_lane(gather.pieces, "zygos::train::receive");
  }
}

}  // namespace zygos::train
