// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/tasks/norm.hpp"

#include "ops/update/clip_factor.hpp"
#include "train/place/place_state.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <limits>

namespace zygos::train {
namespace {

using schedule::BufferKind;
using schedule::TaskId;
using schedule::TaskKind;

/// Some of the model's sums of squares.
Tensor squares_of(const Norm& norm, schedule::SumRange sums) {
  return {norm.sums.data<double>() + sums.begin, DType::f64, Shape{sums.count()}};
}

Norm::Squares bind_squares(const PlaceState& state, const Norm& norm, TaskId id) {
  const plan::NormPlan& plan = state.plan().norm;
  // Windows of the sums lie side by side: one where parts have owners, else all of them.
  const double* const all = norm.sums.data<double>();
  std::int64_t first = plan.sums;
  std::int64_t end = 0;
  for (const schedule::Buffer& buffer : state.task(id).writes) {
    if (const auto* planned = state.buffers.find(buffer.kind, buffer.slot, buffer.part)) {
      const std::int64_t at = reinterpret_cast<const double*>(state.buffers.at(*planned)) - all;
      first = std::min(first, at);
      end = std::max(end, at + static_cast<std::int64_t>(planned->bytes / sizeof(double)));
    }
  }
  const std::int64_t skipped = first - plan.own.begin;
  const std::int64_t begin_piece = plan.first[static_cast<std::size_t>(skipped)];
  const std::int64_t end_piece = plan.first[static_cast<std::size_t>(end - plan.own.begin)];
  return {Tensor(norm.pieces.data<std::int64_t>() + 2 * begin_piece, DType::i64,
                 Shape{end_piece - begin_piece, 2}),
          Tensor(norm.first.data<std::int64_t>() + skipped, DType::i64, Shape{end - first + 1}),
          squares_of(norm, {static_cast<std::int32_t>(first), static_cast<std::int32_t>(end)}),
          static_cast<std::size_t>(begin_piece), static_cast<std::size_t>(end_piece)};
}

Norm::Arrivals bind_arrivals(const PlaceState& state, const Norm& norm, TaskId id) {
  Norm::Arrivals arrivals;
  for (const schedule::Buffer& buffer : state.task(id).reads) {
    if (buffer.kind == BufferKind::message) {
      arrivals.sums.emplace_back(buffer,
                                 squares_of(norm, sums_of(state.setup.tasks, buffer.place)));
    }
  }
  arrivals.pieces.resize(arrivals.sums.size());
  return arrivals;
}

}  // namespace

Norm bind_norm(const PlaceState& state) {
  Norm norm;
  const plan::NormPlan& plan = state.plan().norm;
  if (plan.sums == 0) {
    return norm;
  }
  const plan::PlannedBuffer& planned = *state.buffers.find(BufferKind::norm);
  const auto bind = [&](plan::Role role, DType dtype, const Shape& shape) {
    return state.buffers.bind(planned, {role}, dtype, shape);
  };
  norm.pieces = bind(plan::Role::norm_pieces, DType::i64, Shape{std::ssize(plan.pieces), 2});
  norm.first = bind(plan::Role::norm_first, DType::i64, Shape{std::ssize(plan.first)});
  norm.workspace = bind(plan::Role::norm_workspace, DType::f64, Shape{plan.workspace()});
  norm.sums = bind(plan::Role::norm_sums, DType::f64, Shape{plan.sums});
  norm.factor = bind(plan::Role::norm_factor, DType::f64, Shape{1});
  for (const TaskId id : state.own_tasks()) {
    const TaskKind kind = state.task(id).kind;
    if (kind == TaskKind::squares) {
      norm.squares[id] = bind_squares(state, norm, id);
    } else if (kind == TaskKind::norm) {
      norm.arrivals[id] = bind_arrivals(state, norm, id);
    }
  }
  return norm;
}

void write_norm_plan(const PlaceState& state) {
  const plan::NormPlan& plan = state.plan().norm;
  if (plan.sums == 0) {
    return;
  }
  std::vector<std::int64_t> table(2 * plan.pieces.size());
  for (const auto& [id, squares] : state.norm.squares) {
    // A piece is counted from the first element of the gradient that its task reads.
    const std::int64_t begin = state.task(id).elements.begin;
    for (auto piece = squares.begin; piece < squares.end; ++piece) {
      const schedule::ElementRange& elements = plan.pieces[piece];
      table[2 * piece] = elements.begin - begin;
      table[2 * piece + 1] = elements.end - begin;
    }
  }
  table.insert(table.end(), plan.first.begin(), plan.first.end());
  state.lane().copy_to_lane(state.norm.pieces.raw(), table.data(),
                            table.size() * sizeof(std::int64_t), "zygos::train::norm_plan");
  state.lane().fence("zygos::train::norm_plan");
}

void run_squares(PlaceState& state, TaskId id) {
  const Norm::Squares& squares = state.norm.squares.at(id);
  const Tensor& workspace = state.norm.workspace;
  const Tensor& gradient = state.operands_of(id).source().tensor;
  state.use.note(state.task(id), gradient, squares.pieces, squares.first, squares.sums, workspace);
  lane::dispatch(state.lane().execution(), gradient.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::add_squares(exec, vector_view<Exec, const T>(gradient),
                     vector_view<Exec, const std::int64_t>(squares.pieces),
                     vector_view<Exec, const std::int64_t>(squares.first),
                     vector_view<Exec, double>(workspace), vector_view<Exec, double>(squares.sums));
  });
}

void send_squares(PlaceState& state, TaskId id, std::byte* message) {
  const Tensor own = squares_of(state.norm, state.plan().norm.own);
  state.use.note(state.task(id), own);
  state.lane().copy_to_host(message, own.raw(), own.bytes(), "zygos::train::send");
}

void run_norm(PlaceState& state, TaskId id, const MessageBoard& board) {
  const Norm& norm = state.norm;
  Norm::Arrivals& arrivals = state.norm.arrivals.at(id);
  state.use.note(state.task(id), norm.sums, norm.factor);
  for (std::size_t i = 0; i < arrivals.sums.size(); ++i) {
    const auto& [message, target] = arrivals.sums[i];
    arrivals.pieces[i] = {target.raw(), board.at(message), target.bytes()};
  }
  if (!arrivals.pieces.empty()) {
    state.lane().copy_to_lane(arrivals.pieces, "zygos::train::receive");
  }
  const double most =
      state.setup.optimizer.clip_norm().value_or(std::numeric_limits<double>::infinity());
  lane::dispatch(state.lane().execution(), [&](const auto& exec) {
    using Exec = std::decay_t<decltype(exec)>;
    ops::clip_factor(exec, most, vector_view<Exec, const double>(norm.sums),
                     vector_view<Exec, double>(norm.factor));
  });
}

}  // namespace zygos::train
