// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/learner.hpp"

#include "insitu/state_names.hpp"
#include "ops/elementwise/elementwise.hpp"
#include "ops/update/clip_factor.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace zygos::insitu {
namespace {

/// Steps are laid out once for each of so many batch sizes; the oldest gives way.
constexpr std::size_t max_passes = 4;

const graph::Graph& checked(const graph::Graph& graph, const Options& options) {
  graph.require_trainable();
  graph.require_precision(options.dtype);
  if (graph.loss().wants_labels()) {
    throw UsageError("loss '" + std::string(graph.loss().type()) +
                     "' wants labels; a surrogate learns numbers, with mean_squared_error() or "
                     "another loss of numbers");
  }
  graph.loss().check(graph.output_shape(), graph.output_shape(), 0);
  if (!graph.loss().constants(graph.output_shape()).empty()) {
    throw UsageError("loss '" + std::string(graph.loss().type()) +
                     "' has constants, which a surrogate has no place for; let its functor hold "
                     "them");
  }
  if (options.rates && options.rates->plateau()) {
    throw UsageError("schedule '" + std::string(options.rates->type()) +
                     "' goes by evaluations, which a surrogate does not make; choose one that "
                     "counts steps");
  }
  if (options.batch < 1 || options.min_samples < 0 || options.block < 0) {
    throw UsageError("a surrogate with batch " + std::to_string(options.batch) + ", min_samples " +
                     std::to_string(options.min_samples) + " and block " +
                     std::to_string(options.block) +
                     "; allowed are a batch of 1 or more, and 0 or more for the others");
  }
  return graph;
}

void add_to(const lane::Execution& execution, const Tensor& to, const Tensor& part) {
  lane::dispatch_stored(execution, to.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::add(exec, vector_view<Exec, T>(to), vector_view<Exec, const T>(part));
  });
}

}  // namespace

Learner::Learner(const graph::Graph& graph, const Options& options,
                 const lane::Execution& execution)
    : graph_(checked(graph, options)),
      options_(options),
      optimizer_(options.optimizer ? options.optimizer
                                   : nn::adam({.learning_rate = options.learning_rate})),
      statistics_(nn::sgd({.learning_rate = 1.0, .momentum = 0.0, .weight_decay = 0.0})),
      instance_(execution),
      constants_(graph_, wide(options.dtype)),
      constant_tensors_(constants_.bind(execution)),
      parameters_(instance_, graph_, *optimizer_, wide(options.dtype), options.seed),
      root_mean_squares_(static_cast<std::size_t>(graph_.output_shape().size())) {
  const std::size_t sums = root_mean_squares_.size() * sizeof(ErrorSums);
  heard_ = instance_.allocate_shared(sizeof(Verdict) + sums, "zygos::insitu::verdict");
  bind_updates();
  static_cast<void>(pass_for(options.batch));
}

ErrorSums* Learner::errors() const {
  static_assert(sizeof(Verdict) % alignof(ErrorSums) == 0);
  return reinterpret_cast<ErrorSums*>(heard_.get() + sizeof(Verdict));
}

TrainPass& Learner::pass_for(std::int64_t samples) {
  const auto found =
      std::ranges::find_if(passes_, [&](const auto& pass) { return pass->samples() == samples; });
  if (found != passes_.end()) {
    return **found;
  }
  auto pass = std::make_unique<TrainPass>(graph_, options_.dtype, samples);
  if (pass->bytes() > workspace_bytes_) {
    instance_.wait("zygos::insitu::workspace");
    passes_.clear();
    workspace_.reset();
    workspace_ = instance_.allocate(pass->bytes(), "zygos::insitu::workspace");
    workspace_bytes_ = pass->bytes();
  }
  pass->bind(workspace_.get());
  if (passes_.size() == max_passes) {
    passes_.erase(passes_.begin());
  }
  return *passes_.emplace_back(std::move(pass));
}

void Learner::bind_updates() {
  const auto part = [](const Tensor& flat, std::int64_t begin, std::int64_t end) {
    auto* const first = static_cast<std::byte*>(flat.raw());
    return Tensor(first + static_cast<std::size_t>(begin) * size_of(flat.dtype()), flat.dtype(),
                  Shape{end - begin});
  };
  const auto add = [&](std::vector<nn::UpdateArgs>& to, std::int64_t begin, std::int64_t end) {
    if (begin >= end) {
      return;
    }
    nn::UpdateArgs args{.weights = part(parameters_.weights(), begin, end),
                        .gradient = part(parameters_.gradient(), begin, end),
                        .states = {},
                        .decay_mask = {},
                        .gradient_factor = {},
                        .bad = {}};
    for (const Tensor& state : parameters_.states()) {
      args.states.push_back(part(state, begin, end));
    }
    if (parameters_.decay_mask()) {
      args.decay_mask = part(parameters_.decay_mask(), begin, end);
    }
    to.push_back(std::move(args));
  };
  std::int64_t begin = 0;
  for (const graph::Parameter& parameter : graph_.parameters()) {
    if (!parameter.trained()) {
      std::int64_t end = parameter.offset + parameter.shape.size();
      add(trained_, begin, parameter.offset);
      if (parameter.frozen) {
        end = graph::aligned_elements(end);
      } else {
        add(counted_, parameter.offset, end);
      }
      begin = end;
    }
  }
  add(trained_, begin, graph_.parameter_elements());
}

void Learner::begin(ReservoirStore& reservoir) {
  if (reservoir.input() != graph_.input_shape() || reservoir.target() != graph_.output_shape()) {
    throw UsageError("the reservoir has samples " + reservoir.input().text() + " with targets " +
                     reservoir.target().text() + ", the network takes " +
                     graph_.input_shape().text() + " and gives " + graph_.output_shape().text());
  }
  reservoir.enter(*instance_);
}

void Learner::standardise(const ReservoirStore& reservoir) {
  standards_of(*instance_, reservoir.moments(), parameters_.width(), parameters_.fresh_standards());
  take_fresh_standards(Source::reservoir);
}

void Learner::set_standards(std::span<const double> shift, std::span<const double> scale) {
  const auto width = static_cast<std::size_t>(parameters_.width());
  const auto fits = [](double value) { return std::isfinite(value); };
  if (shift.size() != width || scale.size() != width || !std::ranges::all_of(shift, fits) ||
      !std::ranges::all_of(scale, [&](double value) { return fits(value) && value > 0.0; })) {
    throw UsageError("set_standards() wants " + std::to_string(width) +
                     " finite shifts and as many scales above zero, of inputs and then targets; "
                     "it got " +
                     std::to_string(shift.size()) + " and " + std::to_string(scale.size()));
  }
  instance_.wait("zygos::insitu::set_standards");
  const Standards& fresh = parameters_.fresh_standards();
  instance_.copy_in(fresh.shift, shift.data(), shift.size_bytes(), "zygos::insitu::set_standards");
  instance_.copy_in(fresh.scale, scale.data(), scale.size_bytes(), "zygos::insitu::set_standards");
  take_fresh_standards(Source::caller);
}

bool Learner::follow(const ReservoirStore& reservoir) {
  if (standards() != Source::reservoir || !parameters_.absorbs_standards() ||
      followed_ == reservoir.seen()) {
    return false;
  }
  followed_ = reservoir.seen();
  standards_of(*instance_, reservoir.moments(), parameters_.width(), parameters_.fresh_standards());
  find_drift(*instance_, parameters_.standards(), parameters_.fresh_standards(),
             parameters_.width(), parameters_.bad());
  if (hear(Tensor()).bad == 0) {
    return false;
  }
  take_fresh_standards(Source::reservoir);
  return true;
}

void Learner::take_fresh_standards(Source source) {
  // Initial weights are made for standardised samples: there is nothing to keep yet.
  parameters_.take_fresh_standards(*instance_, counters_.steps > 0);
  counters_.standards = static_cast<std::int64_t>(source);
  counters_.updates = 0;
}

nn::Context Learner::context(const TrainPass& pass, std::size_t node, nn::Mode mode) const {
  const graph::Node& of = graph_.nodes()[node];
  return {*instance_,    of.frozen ? nn::Mode::evaluate : mode,
          options_.seed, static_cast<std::uint64_t>(counters_.steps) + 1,
          of.stream,     pass.ids()};
}

void Learner::forward(const TrainPass& pass, nn::Mode mode) const {
  for (std::size_t node = 0; node < pass.nodes().size(); ++node) {
    const NodeStep& step = pass.nodes()[node];
    graph_.nodes()[node].layer->forward(
        context(pass, node, mode), {step.inputs, parameters_.node_weights()[node],
                                    step.forward_workspace, step.output, constant_tensors_[node]});
  }
}

void Learner::backward(const TrainPass& pass) const {
  for (std::size_t node = pass.nodes().size(); node-- > 0;) {
    const NodeStep& step = pass.nodes()[node];
    if (!step.runs_backward) {
      continue;
    }
    graph_.nodes()[node].layer->backward(context(pass, node, nn::Mode::train),
                                         {step.inputs,
                                          parameters_.node_weights()[node],
                                          step.backward_workspace,
                                          step.output,
                                          step.d_output,
                                          step.d_inputs,
                                          parameters_.node_gradients()[node],
                                          false,
                                          pass.samples(),
                                          constant_tensors_[node],
                                          {},
                                          {},
                                          !graph_.nodes()[node].frozen});
    for (const auto& [part, whole] : step.added) {
      add_to(*instance_, whole, part);
    }
  }
}

const Verdict& Learner::hear(const Tensor& totals) {
  tell(*instance_, totals, parameters_.bad(), verdict());
  instance_.wait("zygos::insitu::verdict");
  return *verdict();
}

std::optional<double> Learner::step(const ReservoirStore& reservoir, std::int64_t batch) {
  const TrainPass& pass = pass_for(batch);
  const BatchRows rows{rows_of(pass.input()), rows_of(pass.loss().target),
                       pass.ids().data<std::uint32_t>(), batch};
  Placement placement = reservoir.placement();
  placement.seed = options_.seed;  // networks that share a reservoir draw each its own batches
  draw_batch(*instance_, placement, static_cast<std::uint64_t>(counters_.draws++),
             reservoir.training(), reservoir.slots(), parameters_.input_standards(),
             parameters_.target_standards(), rows);
  forward(pass, nn::Mode::train);
  graph_.loss().evaluate(*instance_, pass.loss(), batch);
  backward(pass);
  find_not_finite(*instance_, parameters_.gradient(), parameters_.bad());
  const Verdict& heard = hear(pass.loss().totals);
  if (heard.bad != 0) {
    ++counters_.refused;
    return std::nullopt;
  }
  if (keeps_next_) {
    parameters_.keep(*instance_);
    keeps_next_ = false;
  }
  update();
  return heard.loss / static_cast<double>(batch);
}

void Learner::find_clip_factor() const {
  const ClipTensors& clip = parameters_.clip();
  const Tensor& gradient = parameters_.gradient();
  lane::dispatch(*instance_, gradient.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    ops::add_squares(exec, vector_view<Exec, const T>(gradient),
                     vector_view<Exec, const std::int64_t>(clip.pieces),
                     vector_view<Exec, const std::int64_t>(clip.first),
                     vector_view<Exec, double>(clip.workspace),
                     vector_view<Exec, double>(clip.sums));
    ops::clip_factor(exec, *optimizer_->clip_norm(), vector_view<Exec, const double>(clip.sums),
                     vector_view<Exec, double>(clip.factor));
  });
}

void Learner::update() {
  if (optimizer_->clip_norm()) {
    find_clip_factor();
  }
  const double rate = options_.rates
                          ? options_.rates->factor({.done = counters_.steps, .steps_per_epoch = 0})
                          : 1.0;
  ++counters_.steps;
  ++counters_.updates;
  const auto apply = [&](const nn::Optimizer& optimizer, std::vector<nn::UpdateArgs>& all,
                         double rate_factor, const Tensor& gradient_factor) {
    for (nn::UpdateArgs& args : all) {
      args.step = static_cast<std::uint64_t>(counters_.updates);
      args.rate_factor = rate_factor;
      args.gradient_factor = gradient_factor;
      optimizer.update(*instance_, args);
    }
  };
  apply(*optimizer_, trained_, rate, parameters_.clip().factor);
  apply(*statistics_, counted_, 1.0, Tensor());
}

bool Learner::is_sound(std::int64_t batch) {
  const TrainPass& pass = pass_for(batch);
  forward(pass, nn::Mode::evaluate);  // the inputs are still there
  find_not_finite(*instance_, pass.nodes().back().output, parameters_.bad());
  find_not_finite(*instance_, parameters_.weights(), parameters_.bad());
  return hear(Tensor()).bad == 0;
}

void Learner::roll_back() { parameters_.roll_back(*instance_); }

Validation Learner::validate(const ReservoirStore& reservoir) {
  const std::int64_t held_out = reservoir.validation();
  constexpr double unknown = std::numeric_limits<double>::infinity();
  if (held_out == 0) {
    return {0, unknown, unknown, {}};
  }
  const TrainPass& pass = pass_for(options_.batch);
  const BatchRows rows{rows_of(pass.input()), rows_of(pass.loss().target),
                       pass.ids().data<std::uint32_t>(), pass.samples()};
  nn::LossArgs loss = pass.loss();
  loss.d_prediction = Tensor();
  instance_.wait("zygos::insitu::validate");
  std::fill_n(errors(), root_mean_squares_.size(), ErrorSums{});
  for (std::int64_t first = 0; first < held_out; first += pass.samples()) {
    take_slots(*instance_, reservoir.placement().capacity, first, held_out, reservoir.slots(),
               parameters_.input_standards(), parameters_.target_standards(), rows);
    forward(pass, nn::Mode::evaluate);
    graph_.loss().evaluate(*instance_, loss, pass.samples());
    add_errors(*instance_, rows_of(loss.prediction), rows.targets, parameters_.target_standards(),
               loss.sample_losses.data<double>(), std::min(pass.samples(), held_out - first),
               errors());
  }
  instance_.wait("zygos::insitu::validate");
  const auto count = static_cast<double>(held_out);
  double squares = 0.0;
  double deviations = 0.0;
  for (std::size_t i = 0; i < root_mean_squares_.size(); ++i) {
    const ErrorSums& sum = errors()[i];
    squares += sum.squares;
    deviations += sum.squared_targets - sum.targets * sum.targets / count;
    root_mean_squares_[i] = std::sqrt(sum.physical / count);
  }
  const double relative = deviations > 0.0 ? std::sqrt(squares / deviations) : unknown;
  return {held_out, errors()[0].losses / count, relative, root_mean_squares_};
}

State Learner::state() const {
  State state;
  parameters_.add_to(state, instance_);
  StoredTensor counters{counters_name, DType::i64, Shape{5}, {}};
  counters.bytes.resize(sizeof(counters_));
  std::memcpy(counters.bytes.data(), &counters_, sizeof(counters_));
  state.tensors.push_back(std::move(counters));
  return state;
}

void Learner::check(const State& state) const {
  parameters_.check(state);
  static_cast<void>(state.tensor(counters_name, DType::i64, Shape{5}));
}

void Learner::restore(const State& state) {
  check(state);
  const StoredTensor& counters = state.tensor(counters_name, DType::i64, Shape{5});
  parameters_.restore(state, instance_);
  std::memcpy(&counters_, counters.bytes.data(), sizeof(counters_));
  keeps_next_ = true;
}

}  // namespace zygos::insitu
