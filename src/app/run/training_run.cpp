// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/training_run.hpp"

#include "app/plan/continued_plan.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/plan/run_plan.hpp"
#include "app/report/metrics_log.hpp"
#include "app/report/progress.hpp"
#include "app/report/report_page.hpp"
#include "app/report/run_report.hpp"
#include "app/run/build_run.hpp"
#include "app/run/data_identity.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/pretrained.hpp"
#include "app/run/share_checkpoint.hpp"
#include "app/signals.hpp"
#include "app/text.hpp"
#include "app/trained/evaluation_figures.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/io/hash.hpp"
#include "zygos/load/data_facts.hpp"
#include "zygos/load/saved_model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <sstream>

namespace zygos::app {

namespace {

/// Samples per second of training alone, without evaluations and checkpoints, over a whole run.
class Pace {
 public:
  Pace(std::int64_t first_step, std::int64_t batch) : step_(first_step), batch_(batch) {}

  void count(const train::Event& event) {
    if (event.kind == train::EventKind::progress && event.samples_per_s > 0.0) {
      const auto samples = static_cast<double>((event.step - step_) * batch_);
      step_ = event.step;
      samples_ += samples;
      seconds_ += samples / event.samples_per_s;
    }
  }

  double samples_per_s() const { return seconds_ > 0.0 ? samples_ / seconds_ : 0.0; }

 private:
  std::int64_t step_;
  std::int64_t batch_;
  double samples_ = 0.0;
  double seconds_ = 0.0;
};

/// Engine, trainer and books of one run.
class TrainingRun {
 public:
  /// `folder`: null where another rank keeps the books.
  TrainingRun(RunSetup& setup, const RunFolder* folder, const RunPlan& plan, Console& console,
              const Ranks& ranks)
      : setup_(setup),
        folder_(folder),
        plan_(plan),
        console_(console),
        ranks_(ranks),
        engine_(std::make_unique<train::Engine>(*setup.graph, *setup.optimizer, *setup.lanes,
                                                plan.schedule, setup.target,
                                                engine_options(setup, folder))),
        store_(store_in(folder, setup.keep, console)),
        observed_(setup),
        trainer_(*engine_, setup.training, setup.test_or_null(), store_ ? &*store_ : nullptr,
                 options()) {}

  RunEnd run(const std::optional<io::Checkpoint>& checkpoint, const SignalGuard& signals) {
    if (checkpoint) {
      trainer_.resume(*checkpoint);
    } else {
      trainer_.start(setup_.first_weights());
    }
    const SignalsTo attached(signals, trainer_);
    return work();
  }

 private:
  static train::EngineOptions engine_options(const RunSetup& setup, const RunFolder* folder) {
    train::EngineOptions options = setup.engine_options();
    if (options.spill_folder.empty() && folder != nullptr) {
      options.spill_folder = folder->path();
    }
    return options;
  }

  static std::optional<io::CheckpointStore> store_in(const RunFolder* folder, io::Keep keep,
                                                     Console& console) {
    if (folder == nullptr) {
      return std::nullopt;
    }
    return io::CheckpointStore(folder->checkpoints(), keep, console.sink());
  }

  /// The trainer calls back into this run, which outlives it.
  train::TrainerOptions options() {
    train::TrainerOptions options = setup_.trainer;
    options.facts = facts_of(plan_);
    options.facts["deck"] = setup_.resolved_deck;
    options.facts[std::string(load::sample_shape_fact)] =
        load::text_of_sample_shape(setup_.training.sample_shape());
    load::add_data_facts(setup_.training, options.facts);
    add_data_identity(setup_.training, options.facts);
    add_frozen_layers(setup_, options.facts);
    if (!setup_.metrics.empty()) {
      options.figures = [this](train::Evaluation& evaluation) { add_figures(evaluation); };
      if (!setup_.on_several_ranks()) {
        options.observe = [this](std::int64_t first, std::span<const double> predictions) {
          observed_.add(first, predictions);
        };
      }
    }
    options.load_best = [this] { return best_checkpoint_of_all(); };
    return options;
  }

  /// On all ranks, which have the weights together; one that keeps no books has no use for them.
  void add_figures(train::Evaluation& evaluation) {
    if (!setup_.on_several_ranks()) {
      observed_.add_to(evaluation);
      return;
    }
    const auto weights = load::weights_of(*engine_);
    if (folder_ != nullptr) {
      add_evaluation_figures(setup_, weights, evaluation);
    }
  }

  io::Checkpoint best_checkpoint_of_all() const {
    std::optional<io::Checkpoint> best;
    ranks_.together([&] {
      if (store_) {
        best = store_->load_best();
      }
    });
    share_checkpoint(best, ranks_);
    return std::move(*best);
  }

  ProgressFacts progress_facts() const {
    ProgressFacts facts;
    facts.lanes = plan_.schedule.places;
    facts.shown = in_order_of_stages(plan_.schedule);
    facts.staged = plan_.schedule.stages.size() > 1;
    for (const train::LaneUsage& usage : engine_->memory()) {
      facts.bytes += usage.bytes;
    }
    facts.bytes += trainer_.feed_bytes();
    facts.reads = setup_.training.source != nullptr || setup_.trainer.augmentation.any();
    facts.epochs = setup_.trainer.epochs;
    facts.score = setup_.score_name();
    facts.held_out = setup_.held_out();
    facts.scheduled = setup_.rates != nullptr;
    return facts;
  }

  RunEnd work() {
    const ProgressFacts facts = progress_facts();
    Progress progress(console_, facts);
    std::optional<MetricsLog> metrics;
    if (folder_ != nullptr) {
      metrics.emplace(folder_->metrics(), trainer_.step(), console_.sink());
    }
    RunEnd end;
    // Of a run that has no steps left, but was killed before it could say so, nothing is known.
    end.last.loss = std::numeric_limits<double>::quiet_NaN();
    Pace pace(trainer_.step(), setup_.trainer.batch);
    do {
      const double last_loss = end.last.loss;
      end.last = next_event();
      progress.show(end.last);
      if (metrics) {
        metrics->write(metrics_of(end.last, facts));
      }
      pace.count(end.last);
      // Only progress events carry the training loss; the last one is what a run ends with.
      if (end.last.kind != train::EventKind::progress) {
        end.last.loss = last_loss;
      }
    } while (end.last.kind != train::EventKind::finished &&
             end.last.kind != train::EventKind::stopped);
    end.samples_per_s = pace.samples_per_s();
    close_books(end);
    return end;
  }

  train::Event next_event() {
    try {
      return trainer_.next();
    } catch (const Error& error) {
      if (error.code() != ExitCode::numeric) {
        throw;
      }
      throw NumericError(fmt::format(
          "{}\nThe checkpoints in {} are from before this; try a smaller optimizer.learning_rate",
          error.what(), folder_ ? folder_->checkpoints().string() : ""));
    }
  }

  std::optional<DataReading> data_reading() const {
    const std::size_t bytes = trainer_.feed_bytes();
    if (bytes == 0) {
      return std::nullopt;
    }
    DataReading reading;
    reading.memory.lane = "data/staging";
    reading.memory.usage[memory::Category::inputs] = bytes;
    reading.memory.bytes = bytes;
    reading.memory.used = reading.memory.usage;
    reading.waited_s = trainer_.waited_s();
    return reading;
  }

  /// Of the copy that checkpoints are written from: the weights first, then optimizer states.
  std::optional<train::LaneUsage> checkpoint_memory() const {
    const std::size_t bytes = trainer_.checkpoint_costs().bytes;
    if (bytes == 0) {
      return std::nullopt;
    }
    const auto weights =
        std::min(bytes, static_cast<std::size_t>(setup_.graph->parameter_elements()) *
                            size_of(wide(setup_.dtype)));
    train::LaneUsage memory;
    memory.lane = "checkpoint/staging";
    memory.usage[memory::Category::weights] = weights;
    memory.usage[memory::Category::optimizer_state] = bytes - weights;
    memory.bytes = bytes;
    memory.used = memory.usage;
    return memory;
  }

  void close_books(RunEnd& end) {
    end.memory = engine_->memory();
    end.checkpoints = trainer_.checkpoint_costs();
    end.data = data_reading();
    end.checkpoint_memory = checkpoint_memory();
    end.weights_xxh64 = engine_->weights_hash();
    engine_->gather_trace();
    if (folder_ == nullptr) {
      return;
    }
    std::ostringstream trace;
    const auto planned = place_memory_of(plan_.schedule, plan_subject(setup_));
    const auto* predicted = plan_.simulation ? &*plan_.simulation : nullptr;
    train::TraceMemory memory{
        plan::memory_over_time(planned, train::newest_step(engine_->trace(), plan_.schedule)), {}};
    if (predicted != nullptr) {
      memory.predicted = plan::memory_over_time(planned, predicted->tasks);
    }
    train::write_trace(trace, engine_->trace(), plan_.schedule, predicted, memory);
    try {
      io::write_file_atomically(folder_->trace(), trace.str());
    } catch (const IoError& error) {
      console_.warn(error.what());
    }
  }

  RunSetup& setup_;
  const RunFolder* folder_;
  const RunPlan& plan_;
  Console& console_;
  const Ranks& ranks_;
  std::unique_ptr<train::Engine> engine_;
  std::optional<io::CheckpointStore> store_;
  EvaluationFigures observed_;
  train::Trainer trainer_;
};

std::optional<measure::MeasuredGain> gain_of(RunSetup& setup, const RunPlan& plan,
                                             Console& console) {
  if (!plan.prediction || plan.schedule.active_lanes().size() < 2 || !setup.measures_lanes()) {
    return std::nullopt;
  }
  console.detail("measuring step and gain");
  try {
    return measure::measure_gain(profile_request(setup, {}), plan.schedule);
  } catch (const StoppedEarly&) {
    return std::nullopt;  // the run itself is done
  }
}

/// The run is done by then: nothing that goes wrong here may change how it ends.
void write_report(const RunFolder& folder, Console& console) {
  try {
    io::write_file_atomically(folder.report(), report_page(gather_report(folder.path())));
  } catch (const std::exception& error) {
    console.warn(fmt::format("no report was written: {}", error.what()));
  }
}

std::string hash_of(const std::vector<io::StoredTensor>& tensors) {
  io::Hasher hasher;
  for (const io::StoredTensor& tensor : tensors) {
    hasher.add(tensor.bytes);
  }
  return hasher.hex();
}

void keep_deck(const RunSetup& setup, const RunFolder* folder) {
  if (folder != nullptr) {
    io::write_file_atomically(folder->deck(), setup.resolved_deck);
  }
}

void say_and_keep_end(const RunSetup& setup, const RunFolder& folder, const RunPlan& plan,
                      const RunEnd& end, Console& console) {
  nlohmann::json summary = summary_of(setup, plan, end);
  io::write_file_atomically(
      folder.summary(),
      summary.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_report(folder, console);
  console.note("");
  say_end(setup, plan, end, console);
  note_field(console, "files", folder.path().string());
  if (end.last.kind == train::EventKind::stopped) {
    say_field(console, "continue", "zygos resume " + folder.path().string());
  }
  if (console.wants_json()) {
    summary["run_dir"] = folder.path().string();
    console.json(summary);
  }
}

/// The plan of a run that starts, or goes on.
using MakePlan = std::function<RunPlan(const std::optional<io::Checkpoint>& checkpoint)>;

/// `folder` is null on all ranks but the first, `checkpoint` the same on all.
ExitCode train_in_folder(RunSetup& setup, const RunFolder* folder,
                         const std::optional<io::Checkpoint>& checkpoint, const MakePlan& make_plan,
                         Console& console, const Ranks& ranks) {
  const SignalGuard signals;
  setup.signals = &signals;
  const RunPlan plan = ranks.together([&] {
    if (checkpoint) {
      refuse_other_data(setup, *checkpoint);
      console.note(fmt::format("continuing {} at step {}", folder ? folder->path().string() : "",
                               text_of_count(checkpoint->step)));
    }
    say_setup(setup, console);
    RunPlan made = make_plan(checkpoint);
    require_within_machine(setup, made.schedule);  // a measured or recalled one is another one
    setup.trainer.stream_checkpoints =
        streams_checkpoints(setup, memory_of(made.schedule, plan_subject(setup)));
    keep_deck(setup, folder);
    return made;
  });
  say_plan(setup, plan, console);
  if (setup.trainer.stream_checkpoints && !setup.streams_checkpoints) {
    note_field(console, "saves",
               "piece by piece, while training stands still: the memory of this machine has no "
               "room for a copy of the state");
  }
  console.note("");
  RunEnd end;
  {
    const auto run = ranks.together(
        [&] { return std::make_unique<TrainingRun>(setup, folder, plan, console, ranks); });
    end = run->run(checkpoint, signals);
  }
  const bool finished = end.last.kind == train::EventKind::finished;
  if (finished) {
    end.gain = gain_of(setup, plan, console);
  }
  if (folder != nullptr) {
    say_and_keep_end(setup, *folder, plan, end, console);
  }
  setup.signals = nullptr;
  return finished ? ExitCode::done : ExitCode::stopped;
}

/// Collective: nothing_left() of the rank that has the folder.
std::string agreed_nothing_left(const RunSetup& setup, const std::optional<RunFolder>& folder,
                                const std::optional<io::Checkpoint>& checkpoint,
                                const Ranks& ranks) {
  std::string why;
  if (folder && checkpoint) {
    const train::TrainerOptions& options = setup.trainer;
    const std::int64_t each =
        train::steps_per_epoch(setup.training.size(), options.batch, options.drop_last);
    why = nothing_left(*folder, *checkpoint,
                       options.steps ? *options.steps : options.epochs.value_or(0) * each);
  }
  return ranks.alone() ? why : ranks.exchange(why).front();
}

ExitCode say_nothing_left(const std::string& why, const std::optional<RunFolder>& folder,
                          Console& console) {
  console.say(wrapped(why));
  if (console.wants_json() && folder) {
    nlohmann::json summary = read_summary(folder->summary()).value_or(nlohmann::json::object());
    summary["nothing_left"] = true;
    summary["run_dir"] = folder->path().string();
    console.json(summary);
  }
  return ExitCode::done;
}

}  // namespace

ExitCode train_deck(const load::CheckedDeck& deck, const Invocation& invocation,
                    const OpenFolder& open, Elastic elastic, Console& console, const Ranks& ranks) {
  RunSetup setup = build_run(deck, build_options(invocation), ranks);
  setup.unmeasured = invocation.unmeasured;
  std::optional<RunFolder> folder;
  std::optional<io::Checkpoint> checkpoint;
  ranks.together([&] {
    if (!ranks.first()) {
      return;
    }
    checkpoint = open(folder);
    if (checkpoint) {
      refuse_changed_deck(deck, *checkpoint, elastic);
    }
  });
  if (const std::string why = agreed_nothing_left(setup, folder, checkpoint, ranks); !why.empty()) {
    return say_nothing_left(why, folder, console);
  }
  share_checkpoint(checkpoint, ranks);
  if (checkpoint) {
    freeze_as_in(*checkpoint, setup);
  } else {
    ranks.together([&] { load_pretrained_weights(deck, setup, console); });
    if (!ranks.alone()) {
      ranks.require_same("the pretrained weights", hash_of(setup.pretrained));
    }
  }
  const auto make_plan = [&](const std::optional<io::Checkpoint>& from) {
    if (!from) {
      return plan_run(setup, invocation.fresh_profile, console);
    }
    return elastic == Elastic::no
               ? recall_plan(setup, *from, console)
               : continued_plan(setup, deck, *from, invocation.fresh_profile, console);
  };
  return train_in_folder(setup, folder ? &*folder : nullptr, checkpoint, make_plan, console, ranks);
}

}  // namespace zygos::app
