// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/surrogate.hpp"

#include "insitu/learner.hpp"
#include "insitu/predictor.hpp"
#include "insitu/step_budget.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/losses.hpp"

#include <string>

namespace zygos::insitu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Refused steps in a row after which the weights are to blame, not the samples.
constexpr std::int64_t max_refused = 3;

}  // namespace

struct Surrogate::Impl {
  Impl(const graph::Graph& graph, const lane::Execution& execution, const Options& options_)
      : options(options_),
        home(execution),
        learner(graph, options, execution),
        predictor(learner, options.dtype, options.block) {}

  /// From now on the surrogate's own instance works, behind what predictions have enqueued.
  void come_home() { learner.instance().enter(home, "the surrogate"); }
  /// The same with the reservoir's samples.
  const ReservoirStore& begin(ReservoirStore& samples) {
    come_home();
    learner.begin(samples);
    return samples;
  }
  /// Whether there is something to train on, standardised.
  bool is_ready(const ReservoirStore& samples, TrainReport& report) {
    const std::int64_t wanted = options.min_samples > 0 ? options.min_samples : options.batch;
    if (samples.training() < std::min(wanted, samples.placement().capacity) ||
        samples.training() == 0) {
      return false;
    }
    if (options.standardise && learner.standards() == Learner::Source::none) {
      learner.standardise(samples);
    }
    report.restandardised = options.standardise && learner.follow(samples);
    return true;
  }

  void run_steps(const ReservoirStore& samples, const StepBudget& budget, std::int64_t batch,
                 Clock::time_point start, TrainReport& report);
  /// Steps are over: weights and predictions are finite, whatever it takes.
  void settle(std::int64_t batch, std::int64_t refused_in_a_row, TrainReport& report);

  Options options;
  lane::Execution home;
  Learner learner;
  Predictor predictor;
  StepEstimate estimate;
  StepEstimate settling;  ///< of what comes behind the steps of a call
};

void Surrogate::Impl::run_steps(const ReservoirStore& samples, const StepBudget& budget,
                                std::int64_t batch, Clock::time_point start, TrainReport& report) {
  learner.keep_next();
  double losses = 0.0;
  std::int64_t in_a_row = 0;
  double elapsed = seconds_since(start);
  while (in_a_row < max_refused &&
         budget.fits(elapsed + settling.seconds(), report.steps + report.refused, estimate)) {
    const auto loss = learner.step(samples, batch);
    const double now = seconds_since(start);
    estimate.add(now - elapsed);
    elapsed = now;
    losses += loss.value_or(0.0);
    report.steps += loss ? 1 : 0;
    report.refused += loss ? 0 : 1;
    in_a_row = loss ? 0 : in_a_row + 1;
  }
  if (report.steps + report.refused == 0) {
    estimate.forget();
    settling.forget();
    return;
  }
  report.loss = report.steps > 0 ? losses / static_cast<double>(report.steps) : 0.0;
  settle(batch, in_a_row, report);
  settling.add(seconds_since(start) - elapsed);
}

void Surrogate::Impl::settle(std::int64_t batch, std::int64_t refused_in_a_row,
                             TrainReport& report) {
  report.rolled_back = refused_in_a_row >= max_refused || !learner.is_sound(batch);
  if (report.rolled_back) {
    learner.roll_back();
  }
}

Surrogate::Surrogate(const graph::Graph& graph, const lane::Execution& execution,
                     const Options& options)
    : impl_(std::make_unique<Impl>(graph, execution, options)) {}
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;
Surrogate::~Surrogate() = default;

graph::Graph Surrogate::mlp_graph(const MlpOptions& network) {
  if (network.in < 1 || network.out < 1) {
    throw UsageError("a network with " + std::to_string(network.in) + " inputs and " +
                     std::to_string(network.out) + " outputs; both must be 1 or more");
  }
  graph::Graph graph(Shape{network.in}, network.loss ? network.loss : nn::mean_squared_error());
  const bool fused = network.activation != nn::Activation::gelu;
  for (std::size_t i = 0; i < network.hidden.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    graph.add("hidden" + number,
              nn::dense({.units = network.hidden[i],
                         .activation = fused ? network.activation : nn::Activation::none}));
    if (!fused) {
      graph.add("activation" + number, nn::activation(network.activation));
    }
  }
  graph.add("output", nn::dense({.units = network.out}));
  return graph;
}

Reservoir Surrogate::reservoir(const ReservoirOptions& options) const {
  return {impl_->home, graph().input_shape(), graph().output_shape(), options};
}

TrainReport Surrogate::train(const Reservoir& reservoir, const TrainOptions& options) {
  const Clock::time_point start = Clock::now();
  const StepBudget budget{std::chrono::duration<double>(options.budget).count(), options.max_steps};
  budget.require_limit();
  if (options.batch < 0) {
    throw UsageError("a batch of " + std::to_string(options.batch) + " samples");
  }
  TrainReport report;
  const ReservoirStore& samples = impl_->begin(*reservoir.store_);
  if (impl_->is_ready(samples, report)) {
    const std::int64_t batch = options.batch > 0 ? options.batch : impl_->options.batch;
    impl_->run_steps(samples, budget, batch, start, report);
  }
  report.step_seconds = impl_->estimate.seconds();
  report.seconds = seconds_since(start);
  return report;
}

void Surrogate::predict_samples(const lane::Execution& execution,
                                std::span<const infer::Samples> inputs,
                                std::span<const infer::Samples> outputs) {
  impl_->predictor.predict(execution, inputs, outputs);
}

Validation Surrogate::validate(const Reservoir& reservoir) {
  return impl_->learner.validate(impl_->begin(*reservoir.store_));
}

void Surrogate::standardise(const Reservoir& reservoir) {
  impl_->learner.standardise(impl_->begin(*reservoir.store_));
}

void Surrogate::set_standards(std::span<const double> shift, std::span<const double> scale) {
  impl_->come_home();
  impl_->learner.set_standards(shift, scale);
}

void Surrogate::rollback() {
  impl_->come_home();
  impl_->learner.roll_back();
}

const graph::Graph& Surrogate::graph() const noexcept { return impl_->learner.graph(); }
std::int64_t Surrogate::steps() const noexcept { return impl_->learner.steps(); }
std::int64_t Surrogate::refused() const noexcept { return impl_->learner.refused(); }
std::size_t Surrogate::bytes() const noexcept {
  return impl_->learner.parameters().bytes() + impl_->learner.workspace_bytes() +
         impl_->predictor.bytes();
}
void Surrogate::check(const State& state) const { impl_->learner.check(state); }
std::int64_t Surrogate::block() const noexcept { return impl_->predictor.block(); }
const double* Surrogate::target_scales() const noexcept {
  return impl_->learner.parameters().target_standards().scale;
}
State Surrogate::state() const { return impl_->learner.state(); }
void Surrogate::restore(const State& state) {
  impl_->come_home();
  impl_->learner.restore(state);
}

}  // namespace zygos::insitu
