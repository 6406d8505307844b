// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/ensemble.hpp"

#include "insitu/fit.hpp"
#include "insitu/instance.hpp"
#include "insitu/kernels/ensemble_kernels.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace zygos::insitu {
namespace {

/// The same Views from sample `first` on.
class Parts {
 public:
  Parts(std::span<const infer::Samples> whole, std::int64_t first, std::int64_t count)
      : size_(whole.size()) {
    std::ranges::transform(whole, parts_.begin(), [&](const infer::Samples& samples) {
      return samples.part(first, count);
    });
  }
  operator std::span<const infer::Samples>() const { return std::span(parts_).first(size_); }

 private:
  std::array<infer::Samples, Columns::max_parts> parts_{};
  std::size_t size_;
};

std::string prefix_of(std::size_t member) { return "member" + std::to_string(member + 1) + "/"; }

/// The tensors of one member, under the names that it gave them.
State state_of(const State& all, std::size_t member) {
  const std::string prefix = prefix_of(member);
  State state;
  for (const StoredTensor& tensor : all.tensors) {
    if (tensor.name.starts_with(prefix)) {
      state.tensors.push_back(tensor);
      state.tensors.back().name.erase(0, prefix.size());
    }
  }
  return state;
}

template <class Number>
Number sum_over(const std::vector<Surrogate>& members,
                Number (Surrogate::*count)() const noexcept) noexcept {
  Number sum = 0;
  for (const Surrogate& member : members) {
    sum += (member.*count)();
  }
  return sum;
}

}  // namespace

/// Predictions of all members for a block of samples.
struct Ensemble::Workspace {
  Workspace(const lane::Execution& execution, std::int64_t members, std::int64_t block_,
            std::int64_t width_)
      : block(block_),
        width(width_),
        bytes(static_cast<std::size_t>(members * block * width) * sizeof(double)),
        memory(Instance(execution).allocate(bytes, "zygos::insitu::ensemble")) {}

  double* values_of(std::int64_t member) const {
    return reinterpret_cast<double*>(memory.get()) + member * block * width;
  }
  infer::Samples samples_of(std::int64_t member, std::int64_t count) const {
    return {values_of(member), DType::f64, count, width, Shape{width}, {1}};
  }

  std::int64_t block;
  std::int64_t width;
  std::size_t bytes;
  memory::Block memory;
};

Ensemble::Ensemble(const graph::Graph& graph, const lane::Execution& execution,
                   std::int64_t members, const Options& options) {
  if (members < 2) {
    throw UsageError("an ensemble of " + std::to_string(members) +
                     " networks; it takes two or more to differ");
  }
  Options own = options;
  for (std::int64_t i = 0; i < members; ++i, ++own.seed) {
    members_.emplace_back(graph, execution, own);
  }
  const std::int64_t width = graph.output_shape().size();
  workspace_ = std::make_unique<Workspace>(execution, members, members_.front().block(), width);
  root_mean_squares_.resize(static_cast<std::size_t>(width));
}
Ensemble::Ensemble(Ensemble&&) noexcept = default;
Ensemble& Ensemble::operator=(Ensemble&&) noexcept = default;
Ensemble::~Ensemble() = default;

Reservoir Ensemble::reservoir(const ReservoirOptions& options) const {
  return members_.front().reservoir(options);
}

TrainReport Ensemble::train(const Reservoir& reservoir, const TrainOptions& options) {
  TrainReport all;
  double losses = 0.0;
  auto left = std::chrono::duration<double>(options.budget);
  auto waiting = static_cast<double>(members_.size());
  for (Surrogate& member : members_) {
    TrainOptions own = options;
    if (options.budget.count() > 0) {
      const auto share = std::chrono::duration_cast<std::chrono::nanoseconds>(left / waiting);
      own.budget = std::max(share, std::chrono::nanoseconds(1));
    }
    const TrainReport report = member.train(reservoir, own);
    left -= std::chrono::duration<double>(report.seconds);
    waiting -= 1.0;
    losses += report.loss * static_cast<double>(report.steps);
    all.steps += report.steps;
    all.refused += report.refused;
    all.seconds += report.seconds;
    all.step_seconds += report.step_seconds;
    all.rolled_back = all.rolled_back || report.rolled_back;
    all.restandardised = all.restandardised || report.restandardised;
  }
  all.loss = all.steps > 0 ? losses / static_cast<double>(all.steps) : 0.0;
  return all;
}

void Ensemble::predict_samples(const lane::Execution& execution,
                               std::span<const infer::Samples> inputs,
                               std::span<const infer::Samples> mean,
                               std::span<const infer::Samples> spread) {
  const std::int64_t count = count_of("inputs", inputs);
  for (const auto views : {inputs, mean, spread}) {
    static_cast<void>(columns_of(views));  // refuses more Views than Parts has room for
  }
  require_fit("inputs", inputs, graph().input_shape(), count);
  require_fit("means", mean, graph().output_shape(), count);
  if (!spread.empty()) {
    require_fit("spread", spread, Shape{1}, count);
  }
  const Workspace& work = *workspace_;
  const Predictions predictions{work.values_of(0), size(), work.block};
  for (std::int64_t first = 0; first < count; first += work.block) {
    const std::int64_t some = std::min(work.block, count - first);
    for (std::int64_t member = 0; member < size(); ++member) {
      const infer::Samples predicted = work.samples_of(member, some);
      (*this)[member].predict_samples(execution, Parts(inputs, first, some), {&predicted, 1});
    }
    combine_members(execution, predictions, members_.front().target_scales(),
                    columns_of(Parts(mean, first, some)), columns_of(Parts(spread, first, some)));
  }
}

Validation Ensemble::validate(const Reservoir& reservoir) {
  const auto members = static_cast<double>(members_.size());
  Validation all{0, 0.0, 0.0, root_mean_squares_};
  std::ranges::fill(root_mean_squares_, 0.0);
  for (Surrogate& member : members_) {
    const Validation one = member.validate(reservoir);
    all.samples = one.samples;
    all.loss += one.loss / members;
    all.relative_error += one.relative_error * one.relative_error / members;
    for (std::size_t i = 0; i < one.root_mean_squares.size(); ++i) {
      root_mean_squares_[i] += one.root_mean_squares[i] * one.root_mean_squares[i] / members;
    }
  }
  all.relative_error = std::sqrt(all.relative_error);
  std::ranges::transform(root_mean_squares_, root_mean_squares_.begin(),
                         [](double squares) { return std::sqrt(squares); });
  if (all.samples == 0) {
    all.root_mean_squares = {};
  }
  return all;
}

void Ensemble::rollback() {
  for (Surrogate& member : members_) {
    member.rollback();
  }
}

std::int64_t Ensemble::steps() const noexcept { return sum_over(members_, &Surrogate::steps); }

std::int64_t Ensemble::refused() const noexcept { return sum_over(members_, &Surrogate::refused); }

std::size_t Ensemble::bytes() const noexcept {
  return workspace_->bytes + sum_over(members_, &Surrogate::bytes);
}

State Ensemble::state() const {
  State all;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    State own = members_[i].state();
    for (StoredTensor& tensor : own.tensors) {
      tensor.name.insert(0, prefix_of(i));
    }
    all += std::move(own);
  }
  return all;
}

void Ensemble::restore(const State& state) {
  std::vector<State> states;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    states.push_back(state_of(state, i));
    members_[i].check(states.back());
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].restore(states[i]);
  }
}

}  // namespace zygos::insitu
