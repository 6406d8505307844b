// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A place's updates: what an optimizer gets of its parameters, and what is not an optimizer's.
#include "train/place/place_runner.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace zygos::train {

using schedule::BufferKind;
using schedule::Task;

void PlaceRunner::bind_updates() {
  bad_ = buffers_.whole(BufferKind::gradient_flag, DType::i32, Shape{1});
  for (std::size_t index = 0; index < setup_.schedule.tasks.size(); ++index) {
    const Task& one = setup_.schedule.tasks[index];
    if (one.place == setup_.place && one.kind == schedule::TaskKind::update) {
      last_update_ = static_cast<schedule::TaskId>(index);
      bind_update(last_update_);
    }
  }
}

/// Cuts what the task updates into what is trained of it and the statistics of layers.
void PlaceRunner::bind_update(schedule::TaskId id) {
  Update& update = updates_[id];
  const schedule::ElementRange& all = task(id).elements;
  std::int64_t begin = all.begin;
  for (const graph::Parameter& parameter : setup_.graph.parameters()) {
    const schedule::ElementRange elements{
        std::max(parameter.offset, begin),
        std::min(parameter.offset + parameter.shape.size(), all.end)};
    if (parameter.statistic && elements.count() > 0) {
      add_update(id, {begin, elements.begin}, update.trained);
      add_update(id, elements, update.statistics);
      begin = elements.end;
    }
  }
  add_update(id, {begin, all.end}, update.trained);
}

void PlaceRunner::add_update(schedule::TaskId id, schedule::ElementRange elements,
                             std::vector<nn::UpdateArgs>& to) const {
  if (elements.count() <= 0) {
    return;
  }
  const TaskOperands& named = operands(id);
  nn::UpdateArgs args{.weights = named.write(BufferKind::weights).part(elements),
                      .gradient = {},
                      .states = {},
                      .decay_mask = {},
                      .gradient_factor = {},
                      .bad = bad_};
  const BufferKind gradient =
      task(id).reduced ? BufferKind::reduced_gradients : BufferKind::gradients;
  args.gradient = named.read(gradient).part(elements);
  for (const Elements& operand : named.writes) {
    if (operand.kind == BufferKind::optimizer_state) {
      args.states.push_back(operand.part(elements));
    }
  }
  if (setup_.optimizer.uses_decay()) {
    args.decay_mask = buffers_.held(BufferKind::decay_mask, 0, elements);
  }
  to.push_back(std::move(args));
}

void PlaceRunner::clear_bad() const {
  if (bad_) {
    const std::int32_t none = 0;
    setup_.lane.copy_to_lane(bad_.raw(), &none, sizeof(none), "zygos::train::clear_bad");
    setup_.lane.fence("zygos::train::clear_bad");
    *staged_bad() = none;
  }
}

std::int32_t* PlaceRunner::staged_bad() const {
  const plan::PlannedBuffer* staged = buffers_.find(BufferKind::staged_flag);
  return reinterpret_cast<std::int32_t*>(
      buffers_.at(staged == nullptr ? *buffers_.find(BufferKind::gradient_flag) : *staged));
}

bool PlaceRunner::has_bad_gradient() const { return bad_ && *staged_bad() != 0; }

void PlaceRunner::update(schedule::TaskId id) {
  if (averaged_samples(task(id).update) > 0) {  // else of an incomplete batch: nothing was learnt
    apply(id);
  }
  if (id == last_update_ && !setup_.lane.host_accessible()) {
    use_->note_bytes(task(id), staged_bad(), bad_.bytes());
    setup_.lane.copy_to_host(staged_bad(), bad_.raw(), bad_.bytes(), "zygos::train::copy_bad");
  }
}

void PlaceRunner::apply(schedule::TaskId id) {
  const Task& one = task(id);
  const auto updates = static_cast<std::uint64_t>(setup_.schedule.updates.size());
  const auto with = [&](const nn::Optimizer& optimizer, double rate_factor,
                        const Tensor& gradient_factor, std::vector<nn::UpdateArgs>& all) {
    for (nn::UpdateArgs& args : all) {
      args.rate_factor = rate_factor;
      args.gradient_factor = gradient_factor;
      args.step = (inputs_of_call_.step - 1) * updates + static_cast<std::uint64_t>(one.update) + 1;
      use_->note(one, args.weights, args.gradient, args.states, args.decay_mask,
                 args.gradient_factor, args.bad);
      optimizer.update(setup_.lane.execution(), args);
    }
  };
  Update& update = updates_.at(id);
  with(setup_.optimizer, inputs_of_call_.rate_factor, one.clips ? norm_.factor : Tensor(),
       update.trained);
  with(*statistics_, 1.0, Tensor(), update.statistics);
}

void PlaceRunner::write_decay_mask() const {
  if (!setup_.optimizer.uses_decay()) {
    return;
  }
  for (const Elements& held : buffers_.held(BufferKind::decay_mask)) {
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(held.range.count()), 0);
    for (const graph::Parameter& parameter : setup_.graph.parameters()) {
      const std::int64_t begin = std::max(parameter.offset, held.range.begin);
      const std::int64_t end = std::min(parameter.offset + parameter.shape.size(), held.range.end);
      if (parameter.decay && begin < end) {
        std::fill_n(mask.begin() + (begin - held.range.begin), end - begin, std::uint8_t{1});
      }
    }
    setup_.lane.copy_to_lane(held.tensor.raw(), mask.data(), held.tensor.bytes(),
                             "zygos::train::decay_mask");
    setup_.lane.fence("zygos::train::decay_mask");
  }
}

}  // namespace zygos::train
