// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The training loop, turned inside out: next() runs until something happened that a user wants to
// know of, and returns it. So the loop needs no callbacks and an embedding program keeps control.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zygos/core/log.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/dataset.hpp"
#include "zygos/train/engine.hpp"

namespace zygos::train {

/// A moment that recurs: every so many steps, epochs or seconds. Exactly one is set; none: never.
struct Every {
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::optional<double> seconds;
};

struct TrainerOptions {
  std::int64_t batch = 0;
  std::optional<std::int64_t> epochs;  ///< one of epochs and steps is set
  std::optional<std::int64_t> steps;
  bool shuffle = true;
  bool drop_last = false;              ///< leave out an epoch's incomplete last batch
  std::uint64_t seed = 1;
  Every report{.steps = 100, .epochs = {}, .seconds = {}};
  Every evaluate{.steps = {}, .epochs = 1, .seconds = {}};
  Every checkpoint{.steps = {}, .epochs = 1, .seconds = {}};
  io::Facts facts;                     ///< stored in every checkpoint beside the trainer's own
};

/// Loss and hits over a whole data set.
struct Evaluation {
  std::int64_t samples = 0;
  double loss = 0.0;
  double accuracy = 0.0;   ///< fraction of hits; 0 for regression
};

enum class EventKind { progress, evaluated, checkpointed, finished, stopped };

/// Everything since the last event of kind progress.
struct Event {
  EventKind kind = EventKind::progress;
  std::int64_t step = 0;               ///< steps done in all
  std::int64_t total_steps = 0;
  std::int64_t epoch = 0;              ///< counted from 1
  double loss = 0.0;                   ///< mean over the interval's samples
  double accuracy = 0.0;
  double samples_per_s = 0.0;
  std::vector<double> lane_samples_per_s;  ///< by place: its samples / wall time
  double median_step_s = 0.0;
  double seconds = 0.0;                ///< training time so far in this process
  double seconds_left = 0.0;           ///< estimate
  Evaluation evaluation;               ///< evaluated, finished (if there is a test set)
  std::string checkpoint;              ///< checkpointed, stopped: directory
};

class Trainer {
 public:
  /// `test` and `store` may be null. All must outlive the trainer.
  Trainer(Engine& engine, const io::Dataset& train, const io::Dataset* test,
          const io::CheckpointStore* store, TrainerOptions options);

  /// Starts from the seed and writes the checkpoint of step 0 (if there is a store).
  void start();
  /// Continues a verified checkpoint: weights, optimizer, step, epoch and sample cursor. Throws
  /// CheckpointError if it does not fit.
  void resume(const io::Checkpoint& checkpoint);
  /// Runs until the next event. After finished or stopped it must not be called again.
  Event next();
  /// Async-signal-safe: the step in progress ends, a checkpoint is written, next() returns stopped.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  /// Async-signal-safe: a checkpoint after the step in progress.
  void request_checkpoint() noexcept { save_.store(true, std::memory_order_relaxed); }

  std::int64_t step() const noexcept { return step_; }
  std::int64_t total_steps() const;
  std::int64_t steps_per_epoch() const;
  /// Median wall seconds of all training steps of this process (from a bounded sample).
  double median_step_s() const;

 private:
  Engine& engine_;
  const io::Dataset& train_;
  const io::Dataset* test_;
  io::CheckpointStore* store_ = nullptr;
  TrainerOptions options_;
  std::int64_t step_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> save_{false};
};

/// Loss and accuracy of a data set, in batches of the engine's schedule.
Evaluation evaluate(Engine& engine, const io::Dataset& data);

}  // namespace zygos::train
