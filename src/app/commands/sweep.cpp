// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/report/run_report.hpp"
#include "app/run/run_folder.hpp"
#include "app/signals.hpp"
#include "app/sweep/child_process.hpp"
#include "app/sweep/sweep_plan.hpp"
#include "app/sweep/sweep_report.hpp"
#include "app/text.hpp"

#include "zygos/core/machine.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/load/deck_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

namespace zygos::app {

namespace {

namespace fs = std::filesystem;
using State = SweepOutcome::State;

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Whether the deck that a folder keeps is this one.
bool is_deck_of(const fs::path& folder, const load::CheckedDeck& deck) {
  try {
    return deck::differences(text_of_file(folder / "deck.yaml"), deck.deck.resolved()).empty();
  } catch (const UsageError&) {
    return false;  // it can't be read
  }
}

/// What runs the processes of a sweep, so many at a time.
class Sweep {
 public:
  Sweep(const Invocation& invocation, SweepResult& result, Console& console)
      : invocation_(invocation), result_(result), console_(console) {
    result_.outcomes.resize(result_.plan.runs.size());
  }

  /// Every deck is read before anything runs, so that a slip ends no sweep half way.
  void look_at_decks() {
    for (std::size_t run = 0; run < result_.plan.runs.size(); ++run) {
      const load::CheckedDeck deck =
          load::load_deck(invocation_.target, result_.plan.overrides_with_seed(run));
      result_.best_by = deck.spec.train.best_by;
      has_host_ = std::ranges::any_of(deck.spec.lanes, [](const deck::LaneSpec& lane) {
        return lane.kind == deck::LaneKind::host;
      });
      take_finished(run, deck);
    }
  }

  void train() {
    const SignalGuard signals;
    while (true) {
      const bool stop = signals.stop_requested();
      if (stop) {
        ask_all_to_stop();
      }
      start_more(stop);
      if (active_.empty()) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      collect_ended();
    }
  }

 private:
  struct Active {
    std::size_t run;
    std::chrono::steady_clock::time_point started;
    std::unique_ptr<ChildProcess> process;
  };

  /// A run that the same deck has finished before is not trained again.
  void take_finished(std::size_t run, const load::CheckedDeck& deck) {
    const fs::path folder = result_.folder_of(run);
    const auto summary = read_summary(folder / "summary.json");
    if (summary && says_finished(*summary) && is_deck_of(folder, deck)) {
      result_.outcomes[run] = {.state = State::done, .reused = true, .summary = *summary};
    }
  }

  void start_more(bool stop) {
    while (!stop && next_ < result_.outcomes.size() && std::ssize(active_) < invocation_.jobs) {
      const std::size_t run = next_++;
      if (result_.outcomes[run].reused) {
        console_.note(outcome_line(result_, run));
        continue;
      }
      result_.outcomes[run].state = State::running;
      const OutputFile log(result_.log_of(run));
      active_.push_back({run, std::chrono::steady_clock::now(),
                         std::make_unique<ChildProcess>(words_of(run), log, log)});
      show_status();
    }
  }

  std::vector<std::string> words_of(std::size_t run) const {
    std::vector<std::string> words{"train", invocation_.target};
    const auto overrides = result_.plan.overrides_with_seed(run);
    words.insert(words.end(), overrides.begin(), overrides.end());
    words.insert(words.end(), {"--run-dir", result_.folder_of(run).string(), "--color", "never"});
    if (const auto threads = threads_each()) {
      words.insert(words.end(), {"--threads", std::to_string(*threads)});
    }
    if (invocation_.unmeasured) {
      words.emplace_back("--unmeasured");
    }
    const auto& kokkos = invocation_.kokkos_arguments;
    words.insert(words.end(), kokkos.begin(), kokkos.end());
    return words;
  }

  /// Several runs at a time share the cores.
  std::optional<int> threads_each() const {
    if (invocation_.threads || invocation_.jobs == 1 || !has_host_) {
      return invocation_.threads;
    }
    const int cores = granted_cores(usable_cores().size());
    return std::max(1, cores / static_cast<int>(invocation_.jobs));
  }

  void show_status() {
    if (!active_.empty()) {
      const std::size_t run = active_.back().run;
      console_.status(fmt::format("[{}/{}] {}: training", run + 1, result_.plan.runs.size(),
                                  run_text(result_.plan, run)));
    }
  }

  void ask_all_to_stop() {
    for (const Active& active : active_) {
      if (result_.outcomes[active.run].state == State::running) {
        result_.outcomes[active.run].state = State::stopped;
        active.process->ask_to_stop();
      }
    }
  }

  void collect_ended() {
    for (std::size_t i = 0; i < active_.size();) {
      if (!active_[i].process->ended()) {
        ++i;
        continue;
      }
      const Active ended = std::move(active_[i]);
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
      take_end(ended);
      show_status();
    }
  }

  void take_end(const Active& ended) {
    SweepOutcome& outcome = result_.outcomes[ended.run];
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - ended.started;
    outcome.seconds = seconds.count();
    outcome.code = ended.process->code();
    const auto summary = read_summary(result_.folder_of(ended.run) / "summary.json");
    if (outcome.code == static_cast<int>(ExitCode::done) && summary) {
      outcome.state = State::done;
      outcome.summary = *summary;
    } else if (outcome.code == static_cast<int>(ExitCode::stopped)) {
      outcome.state = State::stopped;
    } else {
      outcome.state = State::failed;
      outcome.problem = child_problem(outcome.code, text_of_file(result_.log_of(ended.run)));
    }
    const std::string line = outcome_line(result_, ended.run);
    if (outcome.state == State::failed) {
      console_.warn(line);
    } else {
      console_.note(line);
    }
    io::write_file_atomically(result_.folder / "sweep.json", sweep_json(result_).dump(2) + "\n");
  }

  const Invocation& invocation_;
  SweepResult& result_;
  Console& console_;
  std::vector<Active> active_;
  std::size_t next_ = 0;
  bool has_host_ = false;
};

/// That of a stop, else that of the first run that failed: 0 if all are done.
ExitCode exit_code_of(const SweepResult& result) {
  if (result.count(State::stopped) > 0 || result.count(State::waiting) > 0) {
    return ExitCode::stopped;
  }
  const auto failed = std::ranges::find(result.outcomes, State::failed, &SweepOutcome::state);
  if (failed == result.outcomes.end()) {
    return ExitCode::done;
  }
  return failed->code > static_cast<int>(ExitCode::self_check)
             ? ExitCode::peer
             : static_cast<ExitCode>(failed->code);
}

void say_result(const SweepResult& result, ExitCode code, Console& console) {
  console.note("");
  console.say(sweep_table(result));
  console.say("");
  if (const auto best = best_setting(result)) {
    const std::string setting = setting_text(result.plan, best->setting);
    say_field(console, "best",
              fmt::format("{}{}{:.5g}, by {}", setting, setting.empty() ? "" : ": ",
                          best->spread.mean, best->figure));
  }
  if (const std::size_t failed = result.count(State::failed); failed > 0) {
    say_field(console, "failed",
              fmt::format("{} of {} runs; what they printed is in {}/*.log", failed,
                          result.outcomes.size(), result.folder.string()));
  }
  note_field(console, "files", result.folder.string());
  if (code == ExitCode::stopped) {
    say_field(console, "stopped",
              fmt::format("{} of {} runs are done; the same command goes on",
                          result.count(State::done), result.outcomes.size()));
  }
}

}  // namespace

ExitCode run_sweep(const Invocation& invocation, Console& console) {
  if (invocation.target == "-") {
    throw UsageError("every run of a sweep reads the deck; give it as a file, not as '-'");
  }
  SweepPlan plan = sweep_plan(invocation.overrides, invocation.seeds, 0);
  const load::CheckedDeck deck = load::load_deck(invocation.target, plan.overrides_of(0));
  plan = sweep_plan(invocation.overrides, invocation.seeds, deck.spec.seed);
  const fs::path folder = invocation.runs_dir.empty()
                              ? fs::path("runs") / (deck.spec.name + "_sweep")
                              : fs::path(invocation.runs_dir);
  SweepResult result{plan, folder, "score", {}};
  Sweep sweep(invocation, result, console);
  sweep.look_at_decks();
  const FolderLock lock(folder, "--runs-dir");
  note_field(console, "sweep",
             fmt::format("{} runs, {} of them finished before", plan.runs.size(),
                         result.count(State::done)));
  sweep.train();
  const ExitCode code = exit_code_of(result);
  say_result(result, code, console);
  if (console.wants_json()) {
    console.json(sweep_json(result));
  }
  return code;
}

}  // namespace zygos::app
