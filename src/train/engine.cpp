// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/engine.hpp"

#include "train/engine_impl.hpp"
#include "train/state/snapshot.hpp"
#include "train/state/state_source.hpp"

#include "zygos/io/hash.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace zygos::train {

namespace {

void add_weights(io::TensorSource& source, io::Hasher& hasher) {
  std::vector<std::byte> piece(std::size_t{1} << 20);
  const auto tensors = source.tensors();
  for (std::size_t i = 0; i < tensors.size() && tensors[i].name.starts_with("weights/"); ++i) {
    const std::size_t bytes =
        static_cast<std::size_t>(tensors[i].shape.size()) * size_of(tensors[i].dtype);
    for (std::size_t begin = 0; begin < bytes; begin += piece.size()) {
      const auto part = std::span(piece).first(std::min(piece.size(), bytes - begin));
      source.read(i, begin, part);
      hasher.add(part);
    }
  }
}

}  // namespace

int cores_of(const EngineOptions& options) {
  return options.cores > 0 ? options.cores : lane::process_cores();
}

Engine::Engine(const graph::Graph& graph, const nn::Optimizer& optimizer, lane::LaneSet& lanes,
               schedule::Schedule schedule, const plan::TargetSpec& target, EngineOptions options)
    : impl_(std::make_unique<Impl>(graph, optimizer, lanes, std::move(schedule), target, options)) {
}

Engine::~Engine() = default;

StepReport Engine::step(const Batch& batch, std::uint64_t step, const Batch* next) {
  impl_->require_training();
  const StepReport report = impl_->round({.batch = &batch,
                                          .next = next,
                                          .step = step,
                                          .mode = nn::Mode::train,
                                          .rate_factor = impl_->rate_factor(step)});
  if (!std::isfinite(report.loss) || impl_->has_bad_gradient()) {
    impl_->whole = false;
    impl_->fail_numerically(report.loss);
  }
  return report;
}

double Engine::learning_rate(std::uint64_t step) const {
  return impl_->optimizer.learning_rate() * impl_->rate_factor(step);
}

std::optional<nn::Plateau> Engine::plateau() const {
  const nn::RateSchedulePtr& rates = impl_->options.rates;
  return rates == nullptr ? std::nullopt : rates->plateau();
}

void Engine::set_rate_reductions(std::int64_t count) { impl_->rate_reductions = count; }

StepReport Engine::evaluate(const Batch& batch, std::span<double> predictions) {
  const std::int64_t wanted = batch.samples() * outputs();
  if (!predictions.empty() &&
      (impl_->places.ranks != nullptr || std::ssize(predictions) != wanted)) {
    throw UsageError("evaluate: found room for " + std::to_string(predictions.size()) +
                     " elements of predictions; allowed are " + std::to_string(wanted) +
                     " where all lanes are of this process, or none");
  }
  return impl_->round({.batch = &batch,
                       .step = 0,
                       .mode = nn::Mode::evaluate,
                       .rate_factor = 1.0,
                       .predictions = predictions});
}

void Engine::initialise(std::span<const io::TensorRef> weights) {
  begin_state(impl_->state, impl_->options.seed, weights);
  impl_->whole = true;
}

void Engine::restore(const io::Checkpoint& checkpoint) {
  restore_state(impl_->state, impl_->optimizer, checkpoint);
  impl_->whole = true;
}

std::vector<io::TensorRef> Engine::snapshot() {
  return snapshot_of(impl_->state, impl_->optimizer);
}

std::unique_ptr<io::TensorSource> Engine::state_source() {
  if (impl_->places.ranks != nullptr) {
    throw UsageError(
        "the state of lanes of several processes can't be read piece by piece; take a snapshot, "
        "which all of them gather");
  }
  return std::make_unique<StateSource>(impl_->state, impl_->optimizer);
}

std::string Engine::weights_hash() {
  io::Hasher hasher;
  if (impl_->places.ranks == nullptr) {
    add_weights(*state_source(), hasher);
    return hasher.hex();
  }
  for (const io::TensorRef& ref : snapshot()) {
    if (ref.name.starts_with("weights/")) {
      hasher.add(std::span(static_cast<const std::byte*>(ref.data),
                           static_cast<std::size_t>(ref.shape.size()) * size_of(ref.dtype)));
    }
  }
  return hasher.hex();
}

std::vector<double> Engine::gradient() {
  impl_->require_training();
  return doubles_of(impl_->state, Flat::gradients);
}

std::vector<double> Engine::weights() { return doubles_of(impl_->state, Flat::weights); }

std::vector<double> Engine::gradient(std::size_t place) {
  impl_->require_training();
  return doubles_of(impl_->state, Flat::gradients, place);
}

std::vector<double> Engine::weights(std::size_t place) {
  return doubles_of(impl_->state, Flat::weights, place);
}

std::vector<double> Engine::prediction(std::size_t place) {
  std::vector<double> all;
  for (const Tensor& part : predictions(impl_->places.at(place))) {
    const std::vector<double> values = to_doubles(impl_->places, place, part);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void Engine::agree(std::span<std::int64_t> values) const {
  if (impl_->places.ranks != nullptr) {
    impl_->places.ranks->max(values);
  }
}

const schedule::Schedule& Engine::schedule() const noexcept { return impl_->schedule; }

std::int64_t Engine::outputs() const noexcept { return impl_->model.graph.output_shape().size(); }

bool Engine::one_driver(std::size_t place) const {
  return impl_->workers.one_driver(impl_->schedule.lane_of(static_cast<schedule::Place>(place)));
}

std::chrono::microseconds Engine::spin_timeout() const { return impl_->workers.spin_timeout; }

Trace& Engine::trace() noexcept { return impl_->trace; }

std::vector<LaneUsage> Engine::memory() const { return impl_->memory.usage; }

}  // namespace zygos::train
