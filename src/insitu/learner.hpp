// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One network in one place: forward, loss, backward and update, launched by the calling thread on
// the caller's instance. The rule a reader could not guess: an update is launched only when the
// host knows that loss and gradient of the step are finite.
#pragma once

#include "insitu/kernels/guard.hpp"
#include "insitu/kernels/sample_kernels.hpp"
#include "insitu/parameters.hpp"
#include "insitu/reservoir_store.hpp"
#include "insitu/train_pass.hpp"

#include "zygos/insitu/surrogate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace zygos::insitu {

class Learner {
 public:
  Learner(const graph::Graph& graph, const Options& options, const lane::Execution& execution);

  const graph::Graph& graph() const noexcept { return graph_; }
  const Parameters& parameters() const noexcept { return parameters_; }
  Instance& instance() noexcept { return instance_; }
  const infer::NodeTensors& constants() const noexcept { return constant_tensors_; }
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }

  std::int64_t steps() const noexcept { return counters_.steps; }
  std::int64_t refused() const noexcept { return counters_.refused; }

  /// Throws UsageError unless the reservoir's samples are the network's; orders what follows behind
  /// the reservoir's work.
  void begin(ReservoirStore& reservoir);
  /// Where the network's standards come from.
  enum class Source : std::int64_t {
    none,       ///< 0 and 1
    reservoir,  ///< mean and deviation of its samples
    caller,     ///< set_standards()
  };
  Source standards() const noexcept { return static_cast<Source>(counters_.standards); }
  /// Takes the reservoir's means and deviations as what the network's samples are standardised by.
  void standardise(const ReservoirStore& reservoir);
  void set_standards(std::span<const double> shift, std::span<const double> scale);
  /// The same if they have become very different and predictions stay the same. Whether they did.
  bool follow(const ReservoirStore& reservoir);

  /// One step on `batch` samples drawn from the reservoir. The loss of the batch before the update,
  /// or nothing if it or the gradient is not finite: then nothing has changed but what the next
  /// draw is.
  std::optional<double> step(const ReservoirStore& reservoir, std::int64_t batch);
  /// Returns whether all weights are finite, and so are predictions with them for the samples of
  /// the last step, which had `batch` of them.
  bool is_sound(std::int64_t batch);
  /// Back to the weights of the last step before which they were kept.
  void roll_back();
  /// The next step that is good keeps its weights before it updates them.
  void keep_next() noexcept { keeps_next_ = true; }

  Validation validate(const ReservoirStore& reservoir);

  State state() const;
  /// Throws CheckpointError unless restore() takes it.
  void check(const State& state) const;
  void restore(const State& state);

 private:
  /// In a saved state, in this order.
  struct Counters {
    std::int64_t steps = 0;
    std::int64_t draws = 0;
    std::int64_t refused = 0;
    std::int64_t standards = 0;
    std::int64_t updates = 0;  ///< since optimizer states were zero
  };

  TrainPass& pass_for(std::int64_t samples);
  nn::Context context(const TrainPass& pass, std::size_t node, nn::Mode mode) const;
  void forward(const TrainPass& pass, nn::Mode mode) const;
  void backward(const TrainPass& pass) const;
  void take_fresh_standards(Source source);
  void bind_updates();
  void update();
  void find_clip_factor() const;
  /// What tell() says of the work so far.
  const Verdict& hear(const Tensor& totals);
  Verdict* verdict() const { return reinterpret_cast<Verdict*>(heard_.get()); }
  ErrorSums* errors() const;

  graph::Graph graph_;
  Options options_;
  nn::OptimizerPtr optimizer_;
  nn::OptimizerPtr statistics_;
  Instance instance_;
  infer::Constants constants_;
  infer::NodeTensors constant_tensors_;
  Parameters parameters_;
  memory::Block heard_;  ///< Verdict, then ErrorSums by output: what kernels tell the host
  memory::Block workspace_;
  std::size_t workspace_bytes_ = 0;
  std::vector<std::unique_ptr<TrainPass>> passes_;
  std::vector<nn::UpdateArgs> trained_;
  std::vector<nn::UpdateArgs> counted_;
  std::vector<double> root_mean_squares_;
  Counters counters_;
  std::int64_t followed_ = 0;  ///< samples seen when the standards were last compared
  bool keeps_next_ = true;
};

}  // namespace zygos::insitu
