// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A network that is trained inside a simulation, beside it, in the time that it can spare:
//
//   using namespace zygos;
//   auto net = insitu::Surrogate::mlp({.in = 6, .hidden = {64, 64, 64}, .out = 3}, exec);
//   auto samples = net.reservoir({.capacity = 100'000});
//   while (...) {                                           // the simulation's time loop
//     samples.add(exec, std::tuple(x, v), f);               // Views, gathered where they lie
//     net.train(samples, {.budget = 500us});
//     if (net.validate(samples).relative_error < 0.01) {
//       net.predict(exec, std::tuple(x, v), f);             // instead of the solver
//     }
//   }
//
// Threads: every kernel is launched by the thread that calls, on the execution-space instance that
// it gave. No thread is started, no lane is made, there is no second OpenMP team, and Kokkos stays
// the caller's. A surrogate is used by one thread at a time. Ranks: no call sends a message, so a
// rank may skip any; see zygos/insitu/ranks.hpp for what is collective.
#pragma once

#include "zygos/graph/graph.hpp"
#include "zygos/insitu/reservoir.hpp"
#include "zygos/insitu/state.hpp"
#include "zygos/insitu/views.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/optimizer.hpp"
#include "zygos/nn/rate_schedule.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace zygos::insitu {

struct Options {
  nn::OptimizerPtr optimizer{};  ///< null: nn::adam({.learning_rate = learning_rate})
  double learning_rate = 1e-3;   ///< of that one
  nn::RateSchedulePtr rates{};   ///< counts steps; null: the learning rate stays
  DType dtype = DType::f32;      ///< of activations: f32, f64 or bf16
  std::int64_t batch = 256;      ///< samples of a step
  std::int64_t min_samples = 0;  ///< train() waits for so many in the reservoir; 0: a batch
  /// Inputs and targets less their mean over their standard deviation, which the first train()
  /// takes from the reservoir, and later ones again where they are off by a factor of two. Then the
  /// network's first and last layers absorb the difference, so that predictions stay the same. That
  /// takes dense layers with a bias, the last one linear, as those of mlp(); other networks keep
  /// their standards until standardise() is called.
  bool standardise = true;
  std::int64_t block = 0;  ///< most samples that are predicted at once; 0: as fit into a cache
  std::uint64_t seed = 1;  ///< of the first weights, and of what steps draw from a reservoir
};

/// A multilayer perceptron: dense layers, the last one linear.
struct MlpOptions {
  std::int64_t in = 0;
  std::vector<std::int64_t> hidden{};
  std::int64_t out = 0;
  nn::Activation activation = nn::Activation::tanh;
  nn::LossPtr loss{};  ///< null: the mean squared error
};

/// Ends at whatever comes first; one of both must be given.
struct TrainOptions {
  /// Wall time; a step is begun only if it is expected to end within. Zero: no limit.
  std::chrono::nanoseconds budget{0};
  std::int64_t max_steps = 0;  ///< 0: no limit
  std::int64_t batch = 0;      ///< samples of a step; 0: Options::batch
};

struct TrainReport {
  std::int64_t steps = 0;       ///< that were applied
  double loss = 0.0;            ///< their mean, each before its update, of standardised targets
  double seconds = 0.0;         ///< of the call
  std::int64_t refused = 0;     ///< steps whose loss or gradient was not finite: not applied
  bool rolled_back = false;     ///< weights went back to those of the last good step of before
  bool restandardised = false;  ///< samples have changed, see Options::standardise
  double step_seconds = 0.0;    ///< what a step is expected to take
};

/// On the reservoir's held-out samples, which no step has seen.
struct Validation {
  std::int64_t samples = 0;  ///< 0: there are none yet, and the errors are infinite
  double loss = 0.0;         ///< mean, of standardised targets
  /// Root of the sum of squared errors over that of squared deviations of targets from their mean,
  /// each output in units of its standard deviation: 1 is no better than predicting the mean.
  double relative_error = 0.0;
  /// By output, in the targets' own units. Valid until the next call.
  std::span<const double> root_mean_squares{};
};

class Surrogate {
 public:
  /// Throws UsageError for a graph that cannot be trained, a loss that wants labels, a type that
  /// layers do not have, and options that make no sense; MemoryError. All memory but that for
  /// batches of other sizes is allocated here.
  template <class Exec>
  Surrogate(const graph::Graph& graph, const Exec& exec, const Options& options = {})
      : Surrogate(graph, lane::Execution(exec), options) {}
  Surrogate(const graph::Graph& graph, const lane::Execution& execution,
            const Options& options = {});
  Surrogate(Surrogate&& other) noexcept;
  Surrogate& operator=(Surrogate&& other) noexcept;
  ~Surrogate();

  template <class Exec>
  static Surrogate mlp(const MlpOptions& network, const Exec& exec, const Options& options = {}) {
    return {mlp_graph(network), lane::Execution(exec), options};
  }
  static graph::Graph mlp_graph(const MlpOptions& network);

  /// One for this network's samples, in the memory of its instance.
  Reservoir reservoir(const ReservoirOptions& options) const;

  /// Trains on samples drawn from the reservoir, with replacement. A step is applied only if its
  /// loss and gradient are finite. If after the call's last update the weights, or predictions for
  /// that step's samples, are not finite, or if three steps in a row were refused, the weights go
  /// back to those before the call's first good step, as with rollback(): predictions are made with
  /// weights that have predicted finite numbers. Returns at once, without a step, while the
  /// reservoir has less than min_samples. Waits for each step on a device. Throws UsageError for
  /// another network's reservoir, or neither budget nor max_steps.
  TrainReport train(const Reservoir& reservoir, const TrainOptions& options);

  /// outputs(i, ...) = network(inputs(i, ...)), in the samples' own units. Views as those of
  /// Reservoir::add; no targets are wanted, and any number of samples will do. Enqueued on `exec`
  /// without a fence. Throws UsageError for shapes that do not fit.
  template <class Exec, class Inputs, class Outputs>
  void predict(const Exec& exec, const Inputs& inputs, const Outputs& outputs) {
    require_prediction_access<Exec, Inputs, Outputs>();
    predict_samples(lane::Execution(exec), samples_of_views(inputs), samples_of_views(outputs));
  }
  /// The same without Views. Nothing checks that `execution` can access the memory.
  void predict_samples(const lane::Execution& execution, std::span<const infer::Samples> inputs,
                       std::span<const infer::Samples> outputs);

  /// The error on held-out samples, to choose between surrogate and solver. Waits for the instance.
  Validation validate(const Reservoir& reservoir);

  /// Takes mean and deviation of all that the reservoir has seen as what samples are standardised
  /// by from now on. Predictions stay the same where layers can absorb it (Options::standardise);
  /// optimizer states begin anew.
  void standardise(const Reservoir& reservoir);
  /// The same with given ones, of the columns of inputs and then of targets, such as those of all
  /// ranks; train() leaves them alone. Throws UsageError unless scales are above zero.
  void set_standards(std::span<const double> shift, std::span<const double> scale);
  /// Weights and optimizer states as they were before the first good step of the last train() that
  /// had one. Copies within the memory of the instance; allocates nothing.
  void rollback();

  const graph::Graph& graph() const noexcept;
  /// Steps that were applied, and refused, so far.
  std::int64_t steps() const noexcept;
  std::int64_t refused() const noexcept;
  /// Bytes of memory of the execution space.
  std::size_t bytes() const noexcept;

  /// Weights, optimizer states, standardisation and counters, copied to host memory under the names
  /// that checkpoints have.
  State state() const;
  /// Goes on from there: with the reservoir's state as well, with the bits of an undisturbed run.
  /// rollback() then goes to what was restored. Throws CheckpointError for another network's or
  /// optimizer's state or values that are not finite; this surrogate is then as it was before.
  void restore(const State& state);

 private:
  friend class Ensemble;
  /// Throws CheckpointError unless restore() takes it.
  void check(const State& state) const;
  /// Most samples that are predicted at once.
  std::int64_t block() const noexcept;
  /// What targets are divided by, in memory of the execution space.
  const double* target_scales() const noexcept;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace zygos::insitu
