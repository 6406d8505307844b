// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The norm of the model's gradient, of which a place has a part: it sums up the squares of that,
// gets the other places' sums and makes the factor that its updates are clipped with. The host
// waits for nothing.
#include "ops/clip_factor.hpp"
#include "train/place_runner.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <limits>

namespace zygos::train {

using schedule::TaskKind;

void PlaceRunner::bind_norm() {
  const plan::NormPlan& plan = memory_.norm;
  if (plan.sums == 0) {
    return;
  }
  std::byte* at = arena_.at(memory_.pieces.norm);
  const auto next = [&](DType dtype, const Shape& shape) {
    const Tensor tensor(at, dtype, shape);
    at += tensor.bytes();
    return tensor;
  };
  norm_.pieces = next(DType::i64, Shape{std::ssize(plan.pieces), 2});
  norm_.first = next(DType::i64, Shape{std::ssize(plan.first)});
  norm_.workspace = next(DType::f64, Shape{plan.workspace()});
  norm_.sums = next(DType::f64, Shape{plan.sums});
  norm_.factor = next(DType::f64, Shape{1});
  for (std::size_t index = 0; index < setup_.schedule.tasks.size(); ++index) {
    const auto id = static_cast<schedule::TaskId>(index);
    if (task(id).place == setup_.place && task(id).kind == TaskKind::squares) {
      bind_squares(id);
    } else if (task(id).place == setup_.place && task(id).kind == TaskKind::norm) {
      Norm::Arrivals& arrivals = norm_.arrivals[id];
      for (const schedule::Buffer& buffer : task(id).reads) {
        if (buffer.kind == schedule::BufferKind::message) {
          arrivals.sums.emplace_back(buffer, squares_of(sums_of(setup_.schedule, buffer.place)));
        }
      }
      arrivals.pieces.resize(arrivals.sums.size());
    }
  }
}

void PlaceRunner::write_norm_plan() const {
  if (memory_.norm.sums == 0) {
    return;
  }
  std::vector<std::int64_t> table;
  for (const schedule::ElementRange& piece : memory_.norm.pieces) {
    table.push_back(piece.begin - memory_.elements.begin);
    table.push_back(piece.end - memory_.elements.begin);
  }
  table.insert(table.end(), memory_.norm.first.begin(), memory_.norm.first.end());
  setup_.lane.copy_to_lane(norm_.pieces.raw(), table.data(), table.size() * sizeof(std::int64_t),
                           "zygos::train::norm_plan");
  setup_.lane.fence("zygos::train::norm_plan");
}

Tensor PlaceRunner::squares_of(schedule::SumRange sums) const {
  return {norm_.sums.data<double>() + sums.begin, DType::f64, Shape{sums.count()}};
}

void PlaceRunner::bind_squares(schedule::TaskId id) {
  const plan::NormPlan& plan = memory_.norm;
  const auto all = square_sums(setup_.schedule);
  const auto is_outside = [&](std::int32_t sum) {
    const schedule::ElementRange& elements = all[static_cast<std::size_t>(sum)];
    return elements.end <= task(id).elements.begin || task(id).elements.end <= elements.begin;
  };
  // One of the place's sums where parts have owners, else all of them.
  schedule::SumRange sums = plan.own;
  while (is_outside(sums.begin)) {
    ++sums.begin;
  }
  while (is_outside(sums.end - 1)) {
    --sums.end;
  }
  const std::int64_t skipped = sums.begin - plan.own.begin;
  const std::int64_t begin = plan.first[static_cast<std::size_t>(skipped)];
  const std::int64_t end = plan.first[static_cast<std::size_t>(skipped + sums.count())];
  norm_.squares[id] = {
      Tensor(norm_.pieces.data<std::int64_t>() + 2 * begin, DType::i64, Shape{end - begin, 2}),
      Tensor(norm_.first.data<std::int64_t>() + skipped, DType::i64, Shape{sums.count() + 1}),
      squares_of(sums)};
}

void PlaceRunner::squares(schedule::TaskId id) const {
  const Norm::Squares& squares = norm_.squares.at(id);
  const Tensor& gradient = task(id).reduced ? reduced_ : gradients_;
  lane::dispatch(setup_.lane.execution(), gradient.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::add_squares(exec, vector_view<Exec, const T>(gradient),
                     vector_view<Exec, const std::int64_t>(squares.pieces),
                     vector_view<Exec, const std::int64_t>(squares.first),
                     vector_view<Exec, double>(norm_.workspace),
                     vector_view<Exec, double>(squares.sums));
  });
}

void PlaceRunner::norm(schedule::TaskId id, const MessageBoard& board) {
  Norm::Arrivals& arrivals = norm_.arrivals.at(id);
  for (std::size_t i = 0; i < arrivals.sums.size(); ++i) {
    const auto& [message, target] = arrivals.sums[i];
    arrivals.pieces[i] = {target.raw(), board.at(message), target.bytes()};
  }
  if (!arrivals.pieces.empty()) {
    setup_.lane.copy_to_lane(arrivals.pieces, "zygos::train::receive");
  }
  const double most =
      setup_.optimizer.clip_norm().value_or(std::numeric_limits<double>::infinity());
  lane::dispatch(setup_.lane.execution(), [&](const auto& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    ops::clip_factor(exec, most, vector_view<Exec, const double>(norm_.sums),
                     vector_view<Exec, double>(norm_.factor));
  });
}

}  // namespace zygos::train
