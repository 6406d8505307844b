// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/sweep/sweep_report.hpp"

#include "app/table.hpp"
#include "app/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zygos::app {

namespace {

constexpr const char* step_time = "median_step_s";

std::optional<double> figure_of(const SweepOutcome& outcome, const std::string& name) {
  const bool done = outcome.state == SweepOutcome::State::done && outcome.summary.is_object();
  const auto value = done ? outcome.summary.find(name) : outcome.summary.end();
  return done && value != outcome.summary.end() && value->is_number()
             ? std::optional(value->get<double>())
             : std::nullopt;
}

std::string text_of_figure(const std::string& name, double value) {
  return name == step_time ? text_of_seconds(value) : fmt::format("{:.5g}", value);
}

std::string text_of_spread(const std::string& name, const Spread& spread) {
  if (spread.runs == 0) {
    return "-";
  }
  const std::string mean = text_of_figure(name, spread.mean);
  if (spread.runs == 1) {
    return mean;
  }
  return mean + " +- " +
         (name == step_time ? text_of_seconds(spread.deviation)
                            : fmt::format("{:.2g}", spread.deviation));
}

/// "test_loss" as a heading: "test loss".
std::string heading_of(std::string name) {
  if (name == step_time) {
    return "step time";
  }
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string name_of(SweepOutcome::State state) {
  switch (state) {
    case SweepOutcome::State::done:
      return "done";
    case SweepOutcome::State::failed:
      return "failed";
    case SweepOutcome::State::stopped:
      return "stopped";
    case SweepOutcome::State::running:
    case SweepOutcome::State::waiting:
      break;
  }
  return "waiting";
}

/// Of a figure over the runs of setting number `setting`.
Spread figure_spread(const SweepResult& result, std::size_t setting, const std::string& figure) {
  const auto seeds = static_cast<std::size_t>(result.plan.seeds);
  std::vector<double> values;
  for (std::size_t run = setting * seeds; run < (setting + 1) * seeds; ++run) {
    if (const auto value = figure_of(result.outcomes[run], figure)) {
      values.push_back(*value);
    }
  }
  return spread_of(values);
}

/// "done", or of several seeds "2 of 3 done, 1 failed".
std::string state_text(const SweepResult& result, std::size_t setting) {
  const auto seeds = static_cast<std::size_t>(result.plan.seeds);
  const auto begin = result.outcomes.begin() + static_cast<std::ptrdiff_t>(setting * seeds);
  const auto end = begin + static_cast<std::ptrdiff_t>(seeds);
  if (seeds == 1) {
    return name_of(begin->state);
  }
  using State = SweepOutcome::State;
  const auto count = [&](State state) {
    return std::count_if(begin, end, [&](const SweepOutcome& o) { return o.state == state; });
  };
  std::string text = fmt::format("{} of {} done", count(State::done), seeds);
  if (const auto failed = count(State::failed); failed > 0) {
    text += fmt::format(", {} failed", failed);
  }
  return text;
}

/// What ranks the settings: `train.best_by`, as summary.json calls it.
std::string ranking_figure(const SweepResult& result) {
  const std::vector<std::string> figures = figures_of(result);
  const auto has = [&](const std::string& name) {
    return std::ranges::find(figures, name) != figures.end();
  };
  if (result.best_by != "score") {
    return "test_" + result.best_by;
  }
  for (const char* score : {"test_accuracy", "test_dice"}) {
    if (has(score)) {
      return score;
    }
  }
  return has("test_loss") ? "test_loss" : "loss";
}

bool smaller_is_better(const std::string& figure) {
  return figure.ends_with("loss") || figure.ends_with("mae") || figure.ends_with("rmse");
}

nlohmann::json values_json(const SweepPlan& plan, std::size_t run) {
  nlohmann::json values = nlohmann::json::object();
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    values[plan.axes[axis].key] = plan.runs[run].values[axis];
  }
  return values;
}

nlohmann::json run_json(const SweepResult& result, std::size_t run,
                        const std::vector<std::string>& figures) {
  const SweepOutcome& outcome = result.outcomes[run];
  nlohmann::json row{{"values", values_json(result.plan, run)},
                     {"run_dir", result.folder_of(run).string()},
                     {"state", name_of(outcome.state)},
                     {"reused", outcome.reused},
                     {"exit_code", outcome.code}};
  if (const auto seed = result.plan.runs[run].seed) {
    row["seed"] = *seed;
  }
  if (!outcome.problem.empty()) {
    row["problem"] = outcome.problem;
  }
  for (const std::string& figure : figures) {
    if (const auto value = figure_of(outcome, figure)) {
      row[figure] = *value;
    }
  }
  return row;
}

nlohmann::json setting_json(const SweepResult& result, std::size_t setting,
                            const std::vector<std::string>& figures) {
  const auto first = setting * static_cast<std::size_t>(result.plan.seeds);
  nlohmann::json row{{"values", values_json(result.plan, first)}};
  for (const std::string& figure : figures) {
    if (const Spread spread = figure_spread(result, setting, figure); spread.runs > 0) {
      row[figure] = {{"mean", spread.mean}, {"deviation", spread.deviation}, {"runs", spread.runs}};
    }
  }
  return row;
}

}  // namespace

std::size_t SweepResult::count(SweepOutcome::State state) const {
  return static_cast<std::size_t>(std::ranges::count(outcomes, state, &SweepOutcome::state));
}

std::string setting_text(const SweepPlan& plan, std::size_t setting) {
  const std::size_t run = setting * static_cast<std::size_t>(plan.seeds);
  std::string text;
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", plan.labels[axis],
                        plan.runs[run].values[axis]);
  }
  return text;
}

std::string run_text(const SweepPlan& plan, std::size_t run) {
  std::string text = setting_text(plan, run / static_cast<std::size_t>(plan.seeds));
  if (const auto seed = plan.runs[run].seed) {
    text += fmt::format("{}seed={}", text.empty() ? "" : " ", *seed);
  }
  return text;
}

std::string outcome_line(const SweepResult& result, std::size_t run) {
  const SweepOutcome& outcome = result.outcomes[run];
  std::string text =
      fmt::format("[{}/{}] {}: ", run + 1, result.plan.runs.size(), run_text(result.plan, run));
  if (outcome.state == SweepOutcome::State::failed) {
    return text + fmt::format("failed (exit code {}): {}", outcome.code, outcome.problem);
  }
  if (outcome.state == SweepOutcome::State::stopped) {
    return text + "stopped, its state is saved";
  }
  for (const std::string& figure : figures_of(result)) {
    const auto value = figure_of(outcome, figure);
    if (value && figure != step_time) {
      text += fmt::format("{} {}, ", heading_of(figure), text_of_figure(figure, *value));
    }
  }
  return text + (outcome.reused ? "finished before" : text_of_seconds(outcome.seconds));
}

std::vector<std::string> figures_of(const SweepResult& result) {
  std::vector<std::string> tests;
  const auto any = [&](const std::string& name) {
    return std::ranges::any_of(result.outcomes, [&](const SweepOutcome& outcome) {
      return figure_of(outcome, name).has_value();
    });
  };
  for (const SweepOutcome& outcome : result.outcomes) {
    if (!outcome.summary.is_object()) {
      continue;
    }
    for (const auto& [name, value] : outcome.summary.items()) {
      const bool figure = name.starts_with("test_") && name != "test_loss" && value.is_number();
      if (figure && std::ranges::find(tests, name) == tests.end()) {
        tests.push_back(name);
      }
    }
  }
  std::ranges::sort(tests);
  std::vector<std::string> figures;
  for (const std::string& name : {std::string("test_loss")}) {
    if (any(name)) {
      figures.push_back(name);
    }
  }
  figures.insert(figures.end(), tests.begin(), tests.end());
  for (const std::string& name : {std::string("loss"), std::string(step_time)}) {
    if (any(name)) {
      figures.push_back(name);
    }
  }
  return figures;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  spread.runs = std::ssize(values);
  if (values.empty()) {
    return spread;
  }
  spread.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - spread.mean) * (value - spread.mean);
  }
  if (values.size() > 1) {
    spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  return spread;
}

std::string sweep_table(const SweepResult& result) {
  const std::vector<std::string> figures = figures_of(result);
  std::vector<Table::Column> columns;
  for (const std::string& label : result.plan.labels) {
    columns.push_back({label});
  }
  for (const std::string& figure : figures) {
    columns.push_back({heading_of(figure), Table::Align::right});
  }
  const bool all_done = result.count(SweepOutcome::State::done) == result.outcomes.size();
  if (!all_done || columns.empty()) {
    columns.push_back({"state"});
  }
  Table table(columns);
  const auto seeds = static_cast<std::size_t>(result.plan.seeds);
  for (std::size_t setting = 0; setting < result.plan.settings(); ++setting) {
    std::vector<std::string> cells = result.plan.runs[setting * seeds].values;
    for (const std::string& figure : figures) {
      cells.push_back(text_of_spread(figure, figure_spread(result, setting, figure)));
    }
    if (!all_done) {
      cells.push_back(state_text(result, setting));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::optional<BestSetting> best_setting(const SweepResult& result) {
  const std::string figure = ranking_figure(result);
  std::optional<BestSetting> best;
  for (std::size_t setting = 0; setting < result.plan.settings(); ++setting) {
    const Spread spread = figure_spread(result, setting, figure);
    if (spread.runs == 0 || !std::isfinite(spread.mean)) {
      continue;
    }
    const bool better = !best || (smaller_is_better(figure) ? spread.mean < best->spread.mean
                                                            : spread.mean > best->spread.mean);
    if (better) {
      best = BestSetting{setting, figure, spread};
    }
  }
  return best;
}

nlohmann::json sweep_json(const SweepResult& result) {
  const std::vector<std::string> figures = figures_of(result);
  nlohmann::json runs = nlohmann::json::array();
  for (std::size_t run = 0; run < result.outcomes.size(); ++run) {
    runs.push_back(run_json(result, run, figures));
  }
  nlohmann::json settings = nlohmann::json::array();
  for (std::size_t setting = 0; setting < result.plan.settings(); ++setting) {
    settings.push_back(setting_json(result, setting, figures));
  }
  nlohmann::json object{{"runs_dir", result.folder.string()},
                        {"seeds", result.plan.seeds},
                        {"done", result.count(SweepOutcome::State::done)},
                        {"failed", result.count(SweepOutcome::State::failed)},
                        {"runs", runs},
                        {"settings", settings}};
  if (const auto best = best_setting(result)) {
    object["best"] = setting_json(result, best->setting, figures);
    object["best_by"] = best->figure;
  }
  return object;
}

}  // namespace zygos::app
