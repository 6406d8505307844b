// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep has found: a line for each run, one table, JSON.
#pragma once

#include "app/sweep/sweep_plan.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace zygos::app {

/// How a run of a sweep has ended, so far.
struct SweepOutcome {
  enum class State { waiting, running, done, failed, stopped };
  State state = State::waiting;
  bool reused = false;  ///< done before, by the same deck
  int code = 0;         ///< exit code of the process
  double seconds = 0.0;
  std::string problem{};     ///< failed
  nlohmann::json summary{};  ///< done: summary.json of its folder
};

/// A plan with what became of it.
struct SweepResult {
  const SweepPlan& plan;
  std::filesystem::path folder;
  std::string best_by = "score";         ///< `train.best_by`
  std::vector<SweepOutcome> outcomes{};  ///< by run

  std::filesystem::path folder_of(std::size_t run) const { return folder / plan.runs[run].name; }
  std::filesystem::path log_of(std::size_t run) const {
    return folder / (plan.runs[run].name + ".log");
  }
  std::size_t count(SweepOutcome::State state) const;
};

/// "width=64 rate=0.001"
std::string setting_text(const SweepPlan& plan, std::size_t setting);
/// The same with the seed of a run.
std::string run_text(const SweepPlan& plan, std::size_t run);
/// "[3/12] width=64 seed=2: test_loss 0.0812, test_accuracy 0.9744, 12.3 s"
std::string outcome_line(const SweepResult& result, std::size_t run);

/// Names of the figures that the runs have, in the order of the table: "test_loss",
/// "test_accuracy",
/// ..., "loss", "median_step_s".
std::vector<std::string> figures_of(const SweepResult& result);

struct Spread {
  std::int64_t runs = 0;
  double mean = 0.0;
  double deviation = 0.0;  ///< of a sample (divided by runs - 1); 0 of a single run
};
Spread spread_of(const std::vector<double>& values);

/// A row for each setting; where there are several seeds, mean and standard deviation.
std::string sweep_table(const SweepResult& result);
/// Index of the setting with the best mean, and by which figure; none: nothing is done.
struct BestSetting {
  std::size_t setting = 0;
  std::string figure;
  Spread spread;
};
std::optional<BestSetting> best_setting(const SweepResult& result);
nlohmann::json sweep_json(const SweepResult& result);

}  // namespace zygos::app
