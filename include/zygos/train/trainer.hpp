// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The training loop, turned inside out: next() runs until something happened that a user wants to
// know of, and returns it. So the loop needs no callbacks and an embedding program keeps control.
// Where the lanes belong to several ranks, each has a trainer, and all make the same calls: what
// one of them decides by its clock or by a signal, all do after the same step.
#pragma once

#include "zygos/core/log.hpp"
#include "zygos/io/batch_feed.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/dataset.hpp"
#include "zygos/train/best_evaluation.hpp"
#include "zygos/train/early_stopping.hpp"
#include "zygos/train/engine.hpp"
#include "zygos/train/look_ahead.hpp"
#include "zygos/train/rate_reductions.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
  bool drop_last = false;  ///< leave out an epoch's incomplete last batch
  std::uint64_t seed = 1;
  io::AugmentationOptions augmentation{};  ///< of what is trained on, not of the test set
  Every report{.steps = 100, .epochs = {}, .seconds = {}};
  Every evaluate{.steps = {}, .epochs = 1, .seconds = {}};
  Every checkpoint{.steps = {}, .epochs = 1, .seconds = {}};
  /// Write checkpoints while training goes on. One is in flight at a time: the next one waits for
  /// it, unless it is due by `checkpoint.seconds`, which is put off until the writer is free.
  bool background = true;
  /// Write checkpoints piece by piece from where the state is, without a copy of it: training waits
  /// until each is complete, whatever `background` says, and a few MiB of host memory do. Not where
  /// lanes are of several processes (UsageError).
  bool stream_checkpoints = false;
  /// Failures to write one, in a row, with the last of which the run ends; the others are events.
  int checkpoint_failures = 3;
  /// Which evaluation is the best one, for all that follows here.
  BestBy best_by{};
  /// What an evaluation predicts, batch by batch: the number of the first sample, and the model's
  /// output (samples, outputs) row major, in the order of the test set. An evaluation that a stop
  /// ends early is begun again from sample 0. Lanes of several ranks: must be empty.
  std::function<void(std::int64_t first, std::span<const double> predictions)> observe{};
  /// Adds its figures to an evaluation that was made: called on every rank; what the largest merit
  /// of all ranks says counts, so those that know none may add nothing.
  std::function<void(Evaluation&)> figures{};
  /// Evaluate before every checkpoint, which gets the fact `merit`: what is best is largest. Takes
  /// a test set.
  bool rank_checkpoints = false;
  /// Write a checkpoint whenever an evaluation is the best one so far, and end with the state of
  /// the best one: weights and optimizer, in the last checkpoint, too. Takes a test set, and a
  /// store that keeps at least one best checkpoint.
  bool restore_best = false;
  /// The best checkpoint, called on every rank; empty: that of the store of this, the only rank.
  std::function<io::Checkpoint()> load_best{};
  /// Early stopping: training is finished after so many of the evaluations that `evaluate` asks
  /// for, in a row, none of which has a merit above the best one before by more than
  /// `min_improvement`. Takes a test set. Checkpoints keep the count, so a resumed run ends at the
  /// same step.
  std::optional<std::int64_t> patience{};
  double min_improvement = 0.0;
  io::Facts facts;  ///< stored in every checkpoint beside the trainer's own
};

/// What the checkpoints of this process have cost.
struct CheckpointCosts {
  std::int64_t committed = 0;
  std::int64_t failed = 0;
  std::int64_t put_off = 0;  ///< due by the clock while the one before was being written
  double stopped_s = 0.0;    ///< total time that training stood still for them
  double writing_s = 0.0;    ///< total time from the copies until they were read back, while
                             ///< training went on or not
  std::size_t bytes = 0;     ///< host memory of the copy, or of what pieces pass through
};

/// Steps that one pass over a data set takes.
std::int64_t steps_per_epoch(std::int64_t samples, std::int64_t batch, bool drop_last);

enum class EventKind { progress, evaluated, checkpointed, checkpoint_failed, finished, stopped };

/// Everything since the last event of kind progress.
struct Event {
  EventKind kind = EventKind::progress;
  std::int64_t step = 0;  ///< total steps done; checkpointed: those that were committed
  std::int64_t total_steps = 0;
  std::int64_t epoch = 0;  ///< counted from 1
  double loss = 0.0;       ///< mean over the interval's samples
  double score = 0.0;
  double learning_rate = 0.0;  ///< of the last step
  double samples_per_s = 0.0;
  std::vector<double> lane_samples_per_s;  ///< by lane: its samples / wall time
  double median_step_s = 0.0;
  double seconds = 0.0;       ///< training time so far in this process
  double seconds_left = 0.0;  ///< estimate
  /// In this process: steps whose updates were speculated and made again, because the norm of the
  /// gradient was above optimizer.clip_norm.
  std::int64_t redone_steps = 0;
  std::int64_t recorded_tasks = 0;  ///< in this process: launched as recorded, see StepReport
  double waited_s = 0.0;            ///< of the interval: for samples that are read or augmented
  Evaluation evaluation;            ///< evaluated, finished (if there is a test set)
  bool best = false;                ///< evaluated: no evaluation before was better
  bool out_of_patience = false;     ///< finished: before total_steps
  std::int64_t restored_step = -1;  ///< the state is that after this step; -1: that after `step`
  std::string checkpoint;           ///< checkpointed, stopped: directory, where the store is
  double written_s = 0.0;           ///< checkpointed: from copy to commit, where the store is
  double verified_s = 0.0;          ///< checkpointed: from copy until it was read back
  std::string problem;              ///< checkpoint_failed, which is told where the store is
};

class CheckpointSaver;
struct SaveEnd;

class Trainer {
 public:
  /// `test` and `store` may be null. All must outlive the trainer. Of several ranks one has a
  /// store, which gets the state of all.
  Trainer(Engine& engine, const io::Dataset& train, const io::Dataset* test,
          io::CheckpointStore* store, TrainerOptions options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Starts as Engine::initialise() does and writes the checkpoint of step 0 (if there is a store),
  /// which is complete when this returns. Throws IoError where it can't be written.
  void start(std::span<const io::TensorRef> weights = {});
  /// Continues a verified checkpoint: weights, optimizer, step, epoch and sample cursor. Throws
  /// CheckpointError if it does not fit.
  void resume(const io::Checkpoint& checkpoint);
  /// Runs until the next event. After finished or stopped it must not be called again.
  Event next();
  /// Async-signal-safe: the step in progress ends, or the batch of an evaluation, which is made up
  /// for when the run is resumed; a checkpoint is committed, next() returns stopped, on all ranks.
  /// The other request is for all of them, too.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  /// Async-signal-safe: a checkpoint after the step in progress.
  void request_checkpoint() noexcept { save_.store(true, std::memory_order_relaxed); }

  std::int64_t step() const noexcept { return step_; }
  std::int64_t total_steps() const;
  std::int64_t steps_per_epoch() const;
  /// Median wall seconds of all training steps of this process (from a bounded sample).
  double median_step_s() const;
  /// Total seconds that steps have waited for their samples.
  double waited_s() const { return feed_->waited_s(); }
  /// Host memory of batches that are read ahead, of training and test set, and of augmented ones.
  std::size_t feed_bytes() const;
  const CheckpointCosts& checkpoint_costs() const noexcept;

 private:
  /// What has happened since the last progress event.
  struct Interval {
    std::int64_t steps = 0;
    std::int64_t samples = 0;
    std::int64_t hits = 0;
    std::int64_t best_hits = 0;
    double loss_sum = 0.0;
    double step_seconds = 0.0;
    double waited_seconds = 0.0;
  };

  void one_step();
  std::int64_t epoch_of(std::int64_t step) const;
  bool due(const Every& every, double last_s) const;
  bool save_due();
  /// What a step is followed by, on every rank if on one.
  struct Due {
    bool report = false;
    bool evaluate = false;
    bool save = false;
  };
  Due agree_on_due();
  bool agree_on_stop();
  void after_step();
  void push_progress();
  bool evaluate_when_due();
  void push_evaluation();
  void push_checkpoint();
  void note_patience();
  double agreed_merit(const Evaluation& evaluation) const;
  void restore_best();
  void finish();
  io::Facts checkpoint_facts() const;
  void save();
  void save_last();
  void settle();
  void push_saved(const SaveEnd& saved);
  Event event(EventKind kind) const;
  double elapsed_s() const;

  Engine& engine_;
  const io::Dataset& train_;
  const io::Dataset* test_;
  TrainerOptions options_;
  io::CheckpointStore* store_;
  std::unique_ptr<CheckpointSaver> saver_;
  EarlyStopping patience_;
  RateReductions reductions_;
  std::optional<io::BatchFeed> feed_;
  std::optional<LookAhead> batches_;        ///< of the feed
  std::optional<io::BatchFeed> test_feed_;  ///< where there is a test set
  std::int64_t step_ = 0;
  std::int64_t first_step_ = 0;  ///< of this process
  std::int64_t saved_step_ = -1;
  std::int64_t evaluated_step_ = -1;
  std::int64_t reported_step_ = -1;
  std::int64_t restored_step_ = -1;
  Evaluation last_evaluation_;
  double last_merit_ = 0.0;
  BestEvaluation best_;
  bool out_of_patience_ = false;
  bool put_off_ = false;            ///< a checkpoint is due and waits for the writer
  bool stopping_ = false;           ///< on all ranks
  bool evaluation_missed_ = false;  ///< of the step that the run was resumed at
  Interval interval_;
  std::int64_t redone_steps_ = 0;
  std::int64_t recorded_tasks_ = 0;
  std::vector<double> step_seconds_;  ///< newest steps, a ring
  std::deque<Event> pending_;
  std::chrono::steady_clock::time_point started_;
  double last_report_s_ = 0.0;
  double last_evaluation_s_ = 0.0;
  double last_checkpoint_s_ = 0.0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> save_{false};
};

/// Loss and accuracy of a data set, in batches of the engine's schedule.
Evaluation evaluate(Engine& engine, const io::Dataset& data);

}  // namespace zygos::train
