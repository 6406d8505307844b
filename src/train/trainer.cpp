// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/train/trainer.hpp"

#include "core/median.hpp"
#include "train/checkpoint_facts.hpp"
#include "train/checkpoint_saver.hpp"
#include "train/evaluation.hpp"

#include "zygos/core/saturated.hpp"
#include "zygos/io/batching.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace zygos::train {
namespace {

/// Enough for a stable median, bounded so that long runs do not grow.
constexpr std::size_t remembered_steps = 4096;
constexpr const char* restored_fact = "restored_step";

std::int64_t whole_number(const io::Checkpoint& checkpoint, const std::string& fact) {
  const auto value = number_in<std::int64_t>(checkpoint, fact);
  if (value < 0) {
    throw CheckpointError(checkpoint.path.filename().string() + ": fact '" + fact + "' is " +
                          std::to_string(value) + ", below zero");
  }
  return value;
}

}  // namespace

std::int64_t steps_per_epoch(std::int64_t samples, std::int64_t batch, bool drop_last) {
  return io::batches_per_epoch(samples, batch, drop_last);
}

Trainer::Trainer(Engine& engine, const io::Dataset& train, const io::Dataset* test,
                 io::CheckpointStore* store, TrainerOptions options)
    : engine_(engine),
      train_(train),
      test_(test),
      options_(std::move(options)),
      store_(store),
      saver_(std::make_unique<CheckpointSaver>(engine, store, options_.checkpoint_failures,
                                               options_.stream_checkpoints)),
      patience_(options_.patience, options_.min_improvement),
      reductions_(engine.plateau()) {
  if (options_.batch < 1 || options_.batch > engine_.schedule().batch) {
    throw UsageError("batch " + std::to_string(options_.batch) + " is not within 1 to " +
                     std::to_string(engine_.schedule().batch) + ", the schedule's batch");
  }
  if (steps_per_epoch() < 1) {
    throw UsageError("data set '" + train.name + "' has " + std::to_string(train.size()) +
                     " samples, fewer than one batch of " + std::to_string(options_.batch) +
                     "; lower train.batch or keep incomplete batches");
  }
  if (options_.epochs.has_value() == options_.steps.has_value()) {
    throw UsageError("exactly one of epochs and steps says how long to train");
  }
  feed_.emplace(train, io::FeedOptions{.batch = options_.batch,
                                       .shuffle = options_.shuffle,
                                       .drop_last = options_.drop_last,
                                       .seed = options_.seed,
                                       .augmentation = options_.augmentation});
  batches_.emplace(*feed_, engine_.schedule().batch_slots > 1);
  if (test != nullptr) {
    test_feed_.emplace(*test, io::FeedOptions{.batch = engine_.schedule().batch});
  }
  if (options_.rank_checkpoints && test == nullptr) {
    throw UsageError("checkpoints are ranked by an evaluation, which takes a test set");
  }
  if (patience_.active() && test == nullptr) {
    throw UsageError("early stopping goes by evaluations, which take a test set");
  }
  if (reductions_.active() && test == nullptr) {
    throw UsageError("a learning rate that goes by evaluations takes a test set");
  }
  if (options_.restore_best && (test == nullptr || (store == nullptr && !options_.load_best))) {
    throw UsageError(
        "the best weights are those of an evaluation, in a checkpoint: restoring them "
        "takes a test set and a store");
  }
  step_seconds_.reserve(remembered_steps);
}

Trainer::~Trainer() = default;

const CheckpointCosts& Trainer::checkpoint_costs() const noexcept { return saver_->costs(); }

std::size_t Trainer::feed_bytes() const {
  return feed_->bytes() + (test_feed_ ? test_feed_->bytes() : 0);
}

std::int64_t Trainer::steps_per_epoch() const {
  return train::steps_per_epoch(train_.size(), options_.batch, options_.drop_last);
}

std::int64_t Trainer::total_steps() const {
  return options_.steps.has_value() ? *options_.steps
                                    : saturated_product(*options_.epochs, steps_per_epoch());
}

std::int64_t Trainer::epoch_of(std::int64_t step) const {
  return std::max<std::int64_t>(step - 1, 0) / steps_per_epoch();
}

double Trainer::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

void Trainer::start(std::span<const io::TensorRef> weights) {
  const bool saves = saver_->agree_on_saving();
  batches_->seek(1, total_steps());
  engine_.initialise(weights);
  engine_.set_rate_reductions(0);
  started_ = std::chrono::steady_clock::now();
  if (saves) {
    saver_->bear_no_failure();  // a folder that takes no checkpoint is better known now
    push_checkpoint();
    settle();
    pending_.clear();
  }
}

void Trainer::resume(const io::Checkpoint& checkpoint) {
  if (whole_number(checkpoint, "step") != checkpoint.step ||
      whole_number(checkpoint, "samples_per_epoch") != train_.size() ||
      whole_number(checkpoint, "batch") != options_.batch) {
    throw CheckpointError(checkpoint.path.filename().string() +
                          " was written with another data set or batch size; start anew");
  }
  const bool saves = saver_->agree_on_saving();
  engine_.restore(checkpoint);
  if (saves) {
    saver_->reserve(checkpoint.facts);
  }
  step_ = first_step_ = saved_step_ = checkpoint.step;
  // A stop leaves no time for the evaluation of its step.
  evaluation_missed_ =
      step_ > 0 && !checkpoint.facts.contains("test_loss") && due(options_.evaluate, 0.0);
  best_.restore(checkpoint);
  restored_step_ =
      checkpoint.facts.contains(restored_fact) ? whole_number(checkpoint, restored_fact) : -1;
  patience_.restore(checkpoint);
  reductions_.restore(checkpoint);
  engine_.set_rate_reductions(reductions_.count());
  out_of_patience_ = patience_.is_out_of_patience();
  batches_->seek(step_ + 1, total_steps());
  started_ = std::chrono::steady_clock::now();
}

void Trainer::one_step() {
  const std::int64_t step = step_ + 1;
  const double waited_before = feed_->waited_s();
  const Batch& batch = batches_->next();
  const StepReport report =
      engine_.step(batch, static_cast<std::uint64_t>(step), batches_->behind());
  step_ = step;
  restored_step_ = -1;
  ++interval_.steps;
  interval_.samples += report.samples;
  interval_.hits += report.hits;
  interval_.best_hits += report.best_hits;
  interval_.loss_sum += report.loss * static_cast<double>(report.samples);
  interval_.step_seconds += report.seconds;
  redone_steps_ += report.redone ? 1 : 0;
  recorded_tasks_ += report.recorded_tasks;
  interval_.waited_seconds += feed_->waited_s() - waited_before;
  const auto slot = static_cast<std::size_t>(step) % remembered_steps;
  if (step_seconds_.size() < remembered_steps) {
    step_seconds_.push_back(report.seconds);
  } else {
    step_seconds_[slot] = report.seconds;
  }
}

bool Trainer::due(const Every& every, double last_s) const {
  if (every.steps.has_value()) {
    return step_ % *every.steps == 0;
  }
  if (every.epochs.has_value()) {
    return step_ % saturated_product(*every.epochs, steps_per_epoch()) == 0;
  }
  return every.seconds.has_value() && elapsed_s() - last_s >= *every.seconds;
}

bool Trainer::save_due() {
  if (save_.exchange(false)) {
    return true;
  }
  if (!due(options_.checkpoint, last_checkpoint_s_)) {
    return false;
  }
  if (!options_.checkpoint.seconds) {
    return true;
  }
  // By the clock of the rank that knows whether the one before is written.
  const bool busy = saver_->busy();
  saver_->costs().put_off += busy && !put_off_ ? 1 : 0;
  put_off_ = busy;
  return saver_->writes() && !busy;
}

Trainer::Due Trainer::agree_on_due() {
  SaveEnd saved = saver_->poll();
  std::array<std::int64_t, 6> wanted{due(options_.report, last_report_s_),
                                     due(options_.evaluate, last_evaluation_s_),
                                     save_due(),
                                     stop_.load(),
                                     saved.committed,
                                     saved.failed};
  engine_.agree(wanted);
  saved.committed = wanted[4];
  saved.failed = wanted[5] != 0;
  push_saved(saved);
  stopping_ = wanted[3] != 0;
  return {wanted[0] != 0, wanted[1] != 0, wanted[2] != 0};
}

bool Trainer::agree_on_stop() {
  std::array<std::int64_t, 1> wanted{stop_.load()};
  engine_.agree(wanted);
  stopping_ = stopping_ || wanted[0] != 0;
  return stopping_;
}

Event Trainer::next() {
  while (pending_.empty()) {
    if (step_ >= total_steps() || out_of_patience_) {
      finish();
      break;
    }
    if (std::exchange(evaluation_missed_, false)) {
      if (evaluate_when_due()) {
        saved_step_ = -1;  // the checkpoint of this step does not know that it is the best one
        push_checkpoint();
      }
    } else {
      one_step();
      after_step();
    }
    if (stopping_ && step_ < total_steps() && !out_of_patience_) {
      push_progress();
      save_last();
      pending_.push_back(event(EventKind::stopped));
    }
  }
  Event front = std::move(pending_.front());
  pending_.pop_front();
  return front;
}

void Trainer::after_step() {
  Due due = agree_on_due();
  if (due.report) {
    last_report_s_ = elapsed_s();
    push_progress();
  }
  if (due.evaluate) {
    last_evaluation_s_ = elapsed_s();
    due.save = evaluate_when_due() || due.save;
  }
  if (due.save) {
    last_checkpoint_s_ = elapsed_s();
    push_checkpoint();
  }
}

void Trainer::finish() {
  push_progress();
  push_evaluation();
  if (options_.restore_best && !stopping_ && !best_.is_last()) {
    restore_best();
  }
  save_last();
  pending_.push_back(event(stopping_ ? EventKind::stopped : EventKind::finished));
}

void Trainer::push_progress() {
  if (reported_step_ == step_ || interval_.steps == 0) {
    return;
  }
  reported_step_ = step_;
  pending_.push_back(event(EventKind::progress));
  interval_ = {};
}

void Trainer::push_evaluation() {
  if (test_ == nullptr || evaluated_step_ == step_) {
    return;
  }
  const auto found = evaluate_fed(engine_,
                                  {.feed = *test_feed_,
                                   .samples = test_->size(),
                                   .outputs = engine_.outputs(),
                                   .observe = options_.observe},
                                  [this] { return agree_on_stop(); });
  if (!found) {
    return;  // whoever resumes the run makes it
  }
  last_evaluation_ = *found;
  if (options_.figures) {
    options_.figures(last_evaluation_);
  }
  last_merit_ = agreed_merit(last_evaluation_);
  best_.note(last_merit_);
  evaluated_step_ = step_;
  pending_.push_back(event(EventKind::evaluated));
}

/// Of ranks that know the figures and such that do not.
double Trainer::agreed_merit(const Evaluation& evaluation) const {
  constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();  // the bits of -0.0
  const auto own = options_.best_by.merit(evaluation);
  std::array<std::int64_t, 1> bits{own ? std::bit_cast<std::int64_t>(*own + 0.0) : unknown};
  engine_.agree(bits);
  if (bits[0] == unknown) {
    throw UsageError("the best evaluation is wanted by '" + options_.best_by.figure +
                     "', which these data don't have, or which is not a number; choose another "
                     "figure, or the loss");
  }
  return std::bit_cast<double>(bits[0]);
}

/// The evaluation that the options ask for. True if its weights are the best so far and are to be
/// kept.
bool Trainer::evaluate_when_due() {
  push_evaluation();
  if (evaluated_step_ != step_) {
    return false;  // a stop leaves the evaluation to whoever resumes the run
  }
  note_patience();
  reductions_.note(last_evaluation_.loss);
  engine_.set_rate_reductions(reductions_.count());
  return options_.restore_best && best_.is_last();
}

void Trainer::note_patience() {
  if (!patience_.active()) {
    return;
  }
  patience_.note(last_merit_);
  std::array<std::int64_t, 1> ends{patience_.is_out_of_patience() ? 1 : 0};
  engine_.agree(ends);
  out_of_patience_ = ends[0] != 0;
}

/// What this step has learnt gives way to the best state of before.
void Trainer::restore_best() {
  settle();
  const io::Checkpoint best = options_.load_best ? options_.load_best() : store_->load_best();
  engine_.restore(best);
  restored_step_ =
      best.facts.contains(restored_fact) ? whole_number(best, restored_fact) : best.step;
  evaluated_step_ = saved_step_ = -1;
  push_evaluation();
}

void Trainer::push_checkpoint() {
  if (!saver_->saves() || saved_step_ == step_) {
    return;
  }
  if (options_.rank_checkpoints && !stopping_) {
    push_evaluation();
  }
  settle();  // the writer has memory for one
  save();
  if (!options_.background || options_.stream_checkpoints) {
    settle();
  }
}

io::Facts Trainer::checkpoint_facts() const {
  io::Facts facts = options_.facts;
  facts["step"] = std::to_string(step_);
  facts["epoch"] = std::to_string(step_ / steps_per_epoch());
  facts["cursor"] = std::to_string(step_ % steps_per_epoch() * options_.batch);
  facts["samples_per_epoch"] = std::to_string(train_.size());
  facts["batch"] = std::to_string(options_.batch);
  facts["seed"] = std::to_string(options_.seed);
  if (evaluated_step_ == step_) {
    facts["test_loss"] = text_of(last_evaluation_.loss);
    facts[std::string(io::merit_fact)] = text_of(last_merit_);
  }
  if (restored_step_ >= 0) {
    facts[restored_fact] = std::to_string(restored_step_);
  }
  best_.add_facts(facts);
  patience_.add_facts(facts);
  reductions_.add_facts(facts);
  return facts;
}

void Trainer::save() {
  saver_->start(step_, checkpoint_facts());
  saved_step_ = step_;
  last_checkpoint_s_ = elapsed_s();
}

/// There is no later one: what fails is tried again, as often in a row as a run bears it.
void Trainer::save_last() {
  do {
    push_checkpoint();
    settle();
  } while (saver_->saves() && saved_step_ != step_);
}

/// Waits for the checkpoint in flight, on whichever rank that is.
void Trainer::settle() { push_saved(saver_->settle()); }

void Trainer::push_saved(const SaveEnd& saved) {
  if (saved.failed) {
    saved_step_ = -1;
    if (saver_->writes()) {
      pending_.push_back(event(EventKind::checkpoint_failed));
      pending_.back().problem = saved.problem;
    }
  }
  if (saved.committed < 0) {
    return;
  }
  ++saver_->costs().committed;
  Event done = event(EventKind::checkpointed);
  done.step = saved.committed;
  done.epoch = epoch_of(saved.committed) + 1;
  pending_.push_back(std::move(done));
}

Event Trainer::event(EventKind kind) const {
  Event out;
  out.kind = kind;
  out.step = step_;
  out.total_steps = total_steps();
  out.epoch = epoch_of(step_) + 1;
  out.seconds = elapsed_s();
  out.median_step_s = median_step_s();
  out.redone_steps = redone_steps_;
  out.recorded_tasks = recorded_tasks_;
  const auto done = static_cast<double>(step_ - first_step_);
  if (done > 0) {
    out.seconds_left = out.seconds / done * static_cast<double>(total_steps() - step_);
  }
  out.evaluation = last_evaluation_;
  out.best = best_.is_last();
  out.restored_step = restored_step_;
  out.out_of_patience = out_of_patience_ && step_ < total_steps();
  out.checkpoint = saver_->path();
  out.written_s = saver_->written_s();
  out.verified_s = saver_->verified_s();
  if (interval_.samples == 0) {
    return out;
  }
  out.learning_rate = engine_.learning_rate(static_cast<std::uint64_t>(step_));
  const auto samples = static_cast<double>(interval_.samples);
  out.loss = interval_.loss_sum / samples;
  out.score = fraction(interval_.hits, interval_.best_hits);
  out.waited_s = interval_.waited_seconds;
  out.samples_per_s = samples / (interval_.step_seconds + interval_.waited_seconds);
  const schedule::Schedule& schedule = engine_.schedule();
  for (const std::int64_t part : schedule.lane_sample_counts()) {
    out.lane_samples_per_s.push_back(out.samples_per_s * static_cast<double>(part) /
                                     static_cast<double>(schedule.batch));
  }
  return out;
}

double Trainer::median_step_s() const { return median(step_seconds_); }

}  // namespace zygos::train
