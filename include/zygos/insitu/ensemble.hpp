// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Several networks that learn the same from different beginnings. Where samples have told them what
// to predict they agree; how far they are apart elsewhere says which cells need the solver:
//
//   auto nets = insitu::Ensemble::mlp({.in = 3, .hidden = {16, 16}, .out = 2}, exec, 4);
//   nets.predict(exec, states, changes, spread);      // mean, and spread(i) of sample i
//   ... the solver where !(spread(i) < 0.02) ...
//
// Threads and ranks: as insitu::Surrogate.
#pragma once

#include "zygos/insitu/surrogate.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace zygos::insitu {

/// Networks that differ in their seeds, which are options.seed and those behind it: in their first
/// weights, and in the batches that they draw from the reservoir that they share (Lakshminarayanan
/// et al., "Simple and scalable predictive uncertainty estimation using deep ensembles", 2017).
class Ensemble {
 public:
  /// Throws UsageError for fewer than two members, and what Surrogate's constructor throws.
  template <class Exec>
  Ensemble(const graph::Graph& graph, const Exec& exec, std::int64_t members,
           const Options& options = {})
      : Ensemble(graph, lane::Execution(exec), members, options) {}
  Ensemble(const graph::Graph& graph, const lane::Execution& execution, std::int64_t members,
           const Options& options = {});
  Ensemble(Ensemble&& other) noexcept;
  Ensemble& operator=(Ensemble&& other) noexcept;
  ~Ensemble();

  template <class Exec>
  static Ensemble mlp(const MlpOptions& network, const Exec& exec, std::int64_t members,
                      const Options& options = {}) {
    return {Surrogate::mlp_graph(network), lane::Execution(exec), members, options};
  }

  /// One for all members, in the memory of their instance.
  Reservoir reservoir(const ReservoirOptions& options) const;

  /// Trains every member, each with an equal share of the budget, or with max_steps of its own.
  /// The report has sums over members of steps and times, and the mean loss.
  TrainReport train(const Reservoir& reservoir, const TrainOptions& options);

  /// mean(i, ...) = the members' mean prediction for inputs(i, ...), Views as those of
  /// Surrogate::predict. spread(i), a View of one number a sample: the standard deviation between
  /// members, each output in units of its target's deviation, root mean square over the outputs; so
  /// it compares with Validation::relative_error. It is NaN where a prediction is: write
  /// !(spread < limit) for cells that need the solver. Members predict block by block: inputs are
  /// not copied for each. Enqueued on `exec` without a fence; allocates nothing.
  template <class Exec, class Inputs, class Outputs, class Spread>
  void predict(const Exec& exec, const Inputs& inputs, const Outputs& mean, const Spread& spread) {
    require_prediction_access<Exec, Inputs, Outputs, Spread>();
    predict_samples(lane::Execution(exec), samples_of_views(inputs), samples_of_views(mean),
                    samples_of_views(spread));
  }
  /// The mean alone.
  template <class Exec, class Inputs, class Outputs>
  void predict(const Exec& exec, const Inputs& inputs, const Outputs& mean) {
    require_prediction_access<Exec, Inputs, Outputs>();
    predict_samples(lane::Execution(exec), samples_of_views(inputs), samples_of_views(mean));
  }
  /// The same without Views; `spread` is one View or none. Nothing checks that `execution` can
  /// access the memory.
  void predict_samples(const lane::Execution& execution, std::span<const infer::Samples> inputs,
                       std::span<const infer::Samples> mean,
                       std::span<const infer::Samples> spread = {});

  /// Root mean square over members of their errors on held-out samples: the error of their mean is
  /// no larger.
  Validation validate(const Reservoir& reservoir);
  /// That of every member.
  void rollback();

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(members_.size()); }
  /// A member by its number, from 0, to look at it or train it alone.
  Surrogate& operator[](std::int64_t member) {
    return members_.at(static_cast<std::size_t>(member));
  }
  /// What all members are networks of.
  const graph::Graph& graph() const noexcept { return members_.front().graph(); }
  /// Steps that were applied, and refused, so far, summed over the members.
  std::int64_t steps() const noexcept;
  std::int64_t refused() const noexcept;
  /// Bytes of memory of the execution space.
  std::size_t bytes() const noexcept;

  /// States of all members, under "member1/weights/..." and so on.
  State state() const;
  /// Throws CheckpointError as Surrogate::restore() does; all members are then as they were before.
  void restore(const State& state);

 private:
  struct Workspace;

  std::vector<Surrogate> members_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<double> root_mean_squares_;
};

}  // namespace zygos::insitu
