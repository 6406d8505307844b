// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A place's updates: what an optimizer gets of its parameters, and what is not an optimizer's.
#include "train/place_runner.hpp"

#include <algorithm>
#include <iterator>

namespace zygos::train {

using schedule::Task;

void PlaceRunner::bind_updates() {
  std::int64_t before = 0;  // elements of the ranges so far, which lie one behind the other
  for (const schedule::ElementRange& elements : memory_.updated) {
    Updated& updated = updated_.emplace_back(
        Updated{.elements = elements, .args = {}, .trained = {}, .statistics = {}});
    const Shape shape{elements.count()};
    const auto at = [&](std::size_t piece, DType dtype) {
      const auto offset = static_cast<std::size_t>(before) * size_of(dtype);
      return Tensor(arena_.at(piece) + offset, dtype, shape);
    };
    updated.args.weights = part_of(weights_.front(), elements);
    for (const std::size_t state : memory_.pieces.states) {
      updated.args.states.push_back(at(state, setup_.parameters()));
    }
    if (setup_.optimizer.uses_decay()) {
      updated.args.decay_mask = at(memory_.pieces.decay_mask, DType::u8);
    }
    bind_stretches(updated);
    before += elements.count();
  }
  for (std::size_t id = 0; id < setup_.schedule.tasks.size(); ++id) {
    const Task& one = setup_.schedule.tasks[id];
    if (one.place == setup_.place && one.kind == schedule::TaskKind::update) {
      bad_ = Tensor(arena_.at(memory_.pieces.bad), DType::i32, Shape{1});
      last_update_ = static_cast<schedule::TaskId>(id);
    }
  }
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
  return reinterpret_cast<std::int32_t*>(setup_.lane.host_accessible()
                                             ? arena_.at(memory_.pieces.bad)
                                             : staging_.at(memory_.staged_bad));
}

bool PlaceRunner::has_bad_gradient() const { return bad_ && *staged_bad() != 0; }

void PlaceRunner::bind_stretches(Updated& updated) const {
  const auto add = [&](Stretches& to, schedule::ElementRange elements) {
    if (elements.count() <= 0) {
      return;
    }
    const auto of = [&](const Tensor& whole) {
      const std::int64_t first = elements.begin - updated.elements.begin;
      return whole ? Tensor(static_cast<std::byte*>(whole.raw()) +
                                static_cast<std::size_t>(first) * size_of(whole.dtype()),
                            whole.dtype(), Shape{elements.count()})
                   : Tensor();
    };
    nn::UpdateArgs args{.weights = of(updated.args.weights),
                        .gradient = {},
                        .states = {},
                        .decay_mask = of(updated.args.decay_mask),
                        .gradient_factor = {},
                        .bad = {}};
    std::ranges::transform(updated.args.states, std::back_inserter(args.states), of);
    to.elements.push_back(elements);
    to.args.push_back(std::move(args));
  };
  std::int64_t begin = updated.elements.begin;
  for (const graph::Parameter& parameter : setup_.graph.parameters()) {
    const schedule::ElementRange elements{
        std::max(parameter.offset, begin),
        std::min(parameter.offset + parameter.shape.size(), updated.elements.end)};
    if (parameter.statistic && elements.count() > 0) {
      add(updated.trained, {begin, elements.begin});
      add(updated.statistics, elements);
      begin = elements.end;
    }
  }
  add(updated.trained, {begin, updated.elements.end});
}

void PlaceRunner::update(const Task& one) {
  if (averaged_samples(one.update) > 0) {  // else of an incomplete batch: nothing was learnt
    apply(one);
  }
  if (&one == &task(last_update_) && !setup_.lane.host_accessible()) {
    setup_.lane.copy_to_host(staging_.at(memory_.staged_bad), bad_.raw(), bad_.bytes(),
                             "zygos::train::copy_bad");
  }
}

void PlaceRunner::apply(const Task& one) {
  const auto updates = static_cast<std::uint64_t>(setup_.schedule.updates.size());
  Updated& updated = *std::ranges::find(updated_, one.elements, &Updated::elements);
  const Tensor& gradient = one.reduced ? reduced_ : gradients_;
  const auto with = [&](const nn::Optimizer& optimizer, double rate_factor,
                        const Tensor& gradient_factor, Stretches& stretches) {
    for (std::size_t i = 0; i < stretches.args.size(); ++i) {
      nn::UpdateArgs& args = stretches.args[i];
      args.rate_factor = rate_factor;
      args.gradient_factor = gradient_factor;
      args.bad = bad_;
      args.gradient = part_of(gradient, stretches.elements[i]);
      args.step = (inputs_of_call_.step - 1) * updates + static_cast<std::uint64_t>(one.update) + 1;
      optimizer.update(setup_.lane.execution(), args);
    }
  };
  with(setup_.optimizer, inputs_of_call_.rate_factor, one.clips ? norm_.factor : Tensor(),
       updated.trained);
  with(*statistics_, 1.0, Tensor(), updated.statistics);
}

void PlaceRunner::write_decay_mask() const {
  if (!setup_.optimizer.uses_decay()) {
    return;
  }
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(memory_.elements.count()), 0);
  for (auto node = memory_.stage.nodes.begin; node < memory_.stage.nodes.end; ++node) {
    for (const graph::Parameter& parameter : setup_.graph.parameters_of(node)) {
      std::fill_n(mask.begin() + (parameter.offset - memory_.elements.begin),
                  parameter.shape.size(), static_cast<std::uint8_t>(parameter.decay ? 1 : 0));
    }
  }
  for (const Updated& updated : updated_) {
    const Tensor& target = updated.args.decay_mask;
    setup_.lane.copy_to_lane(target.raw(),
                             mask.data() + (updated.elements.begin - memory_.elements.begin),
                             target.bytes(), "zygos::train::decay_mask");
  }
  setup_.lane.fence("zygos::train::decay_mask");
}

}  // namespace zygos::train
