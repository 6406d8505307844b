// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The norm of the model's gradient, of which a place has a part: it sums the squares of that,
// gets the other places' sums and makes the factor that its updates are clipped with. The host
// waits for nothing.
#include "ops/update/clip_factor.hpp"
#include "train/place/place_runner.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <limits>

namespace zygos::train {

using schedule::BufferKind;
using schedule::TaskKind;

void PlaceRunner::bind_norm() {
  const plan::NormPlan& plan = this->plan().norm;
  if (plan.sums == 0) {
    return;
  }
  const plan::PlannedBuffer& planned = *buffers_.find(BufferKind::norm);
  const auto bind = [&](plan::Role role, DType dtype, const Shape& shape) {
    return buffers_.bind(planned, {role}, dtype, shape);
  };
  norm_.pieces = bind(plan::Role::norm_pieces, DType::i64, Shape{std::ssize(plan.pieces), 2});
  norm_.first = bind(plan::Role::norm_first, DType::i64, Shape{std::ssize(plan.first)});
  norm_.workspace = bind(plan::Role::norm_workspace, DType::f64, Shape{plan.workspace()});
  norm_.sums = bind(plan::Role::norm_sums, DType::f64, Shape{plan.sums});
  norm_.factor = bind(plan::Role::norm_factor, DType::f64, Shape{1});
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
  const plan::NormPlan& plan = this->plan().norm;
  if (plan.sums == 0) {
    return;
  }
  std::vector<std::int64_t> table(2 * plan.pieces.size());
  for (const auto& [id, squares] : norm_.squares) {
    // A piece is counted from the first element of the gradient that its task reads.
    const std::int64_t begin = task(id).elements.begin;
    for (auto piece = squares.begin; piece < squares.end; ++piece) {
      const schedule::ElementRange& elements = plan.pieces[piece];
      table[2 * piece] = elements.begin - begin;
      table[2 * piece + 1] = elements.end - begin;
    }
  }
  table.insert(table.end(), plan.first.begin(), plan.first.end());
  setup_.lane.copy_to_lane(norm_.pieces.raw(), table.data(), table.size() * sizeof(std::int64_t),
                           "zygos::train::norm_plan");
  setup_.lane.fence("zygos::train::norm_plan");
}

Tensor PlaceRunner::squares_of(schedule::SumRange sums) const {
  return {norm_.sums.data<double>() + sums.begin, DType::f64, Shape{sums.count()}};
}

void PlaceRunner::bind_squares(schedule::TaskId id) {
  const plan::NormPlan& plan = this->plan().norm;
  // Windows of the sums lie side by side: one where parts have owners, else all of them.
  const double* const all = norm_.sums.data<double>();
  std::int64_t first = plan.sums;
  std::int64_t end = 0;
  for (const schedule::Buffer& buffer : task(id).writes) {
    if (const auto* planned = buffers_.find(buffer.kind, buffer.slot, buffer.part)) {
      const std::int64_t at = reinterpret_cast<const double*>(buffers_.at(*planned)) - all;
      first = std::min(first, at);
      end = std::max(end, at + static_cast<std::int64_t>(planned->bytes / sizeof(double)));
    }
  }
  const std::int64_t skipped = first - plan.own.begin;
  const std::int64_t begin_piece = plan.first[static_cast<std::size_t>(skipped)];
  const std::int64_t end_piece = plan.first[static_cast<std::size_t>(end - plan.own.begin)];
  norm_.squares[id] = {
      Tensor(norm_.pieces.data<std::int64_t>() + 2 * begin_piece, DType::i64,
             Shape{end_piece - begin_piece, 2}),
      Tensor(norm_.first.data<std::int64_t>() + skipped, DType::i64, Shape{end - first + 1}),
      squares_of({static_cast<std::int32_t>(first), static_cast<std::int32_t>(end)}),
      static_cast<std::size_t>(begin_piece), static_cast<std::size_t>(end_piece)};
}

void PlaceRunner::squares(schedule::TaskId id) const {
  const Norm::Squares& squares = norm_.squares.at(id);
  const Tensor& gradient = operands(id).source().tensor;
  use_->note(task(id), gradient, squares.pieces, squares.first, squares.sums, norm_.workspace);
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
  use_->note(task(id), norm_.sums, norm_.factor);
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
