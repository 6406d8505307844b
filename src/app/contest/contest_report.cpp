// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/contest/contest_report.hpp"

#include "app/plan/link_precision.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_report.hpp"
#include "app/plan/policy_choice.hpp"
#include "app/report/memory_efficiency.hpp"
#include "app/run/build_run.hpp"
#include "app/table.hpp"
#include "app/text.hpp"
#include "core/median.hpp"

#include "zygos/memory/bytes.hpp"
#include "zygos/plan/exposed_time.hpp"
#include "zygos/plan/staleness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace zygos::app {

namespace {

bool may_be_recommended(const RunSetup& setup, const Contender& contender) {
  return deck_names(setup, contender.way.choice.keyword) ||
         plan::is_synchronous(contender.predicted.schedule);
}

std::size_t fastest_of(const RunSetup& setup, const std::vector<Contender>& contenders) {
  std::size_t best = 0;
  const auto key = [&](const Contender& contender) {
    return std::pair(!may_be_recommended(setup, contender), contender.median_step_s());
  };
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    best = key(contenders[i]) < key(contenders[best]) ? i : best;
  }
  return best;
}

double over(double numerator, double denominator) {
  return denominator > 0.0 ? numerator / denominator : 0.0;
}

std::vector<std::string> policies_of(const ContestResult& result,
                                     const std::vector<std::size_t>& contenders) {
  std::vector<std::string> names;
  for (const std::size_t i : contenders) {
    names.push_back(result.contenders[i].predicted.policy);
  }
  return names;
}

std::string reason_of(const RunSetup& setup, const ContestResult& result) {
  const Contender& best = result.contenders[result.best];
  std::string text = fmt::format("{} took {} a step, the least of {}", best.predicted.policy,
                                 text_of_seconds(best.median_step_s()), result.contenders.size());
  if (result.single_step_s > 0.0 && best.predicted.is_split()) {
    text += fmt::format("; {} as fast as the fastest single lane",
                        text_of_speedup(result.single_step_s / best.median_step_s()));
  }
  if (!result.not_told_apart.empty()) {
    text += fmt::format("; as fast in one of the {} rounds, so not told apart from it: {}",
                        max_rounds, fmt::join(policies_of(result, result.not_told_apart), ", "));
  }
  for (const Contender& contender : result.contenders) {
    if (!may_be_recommended(setup, contender) && contender.median_step_s() < best.median_step_s()) {
      text += fmt::format(
          "; {} was faster ({} a step), but it learns something else, with gradients up to {} "
          "updates old, and the deck does not ask for it",
          contender.predicted.policy, text_of_seconds(contender.median_step_s()),
          plan::largest_staleness(contender.predicted.schedule));
    }
  }
  return text;
}

nlohmann::json pair_json(const Contender& contender, double predicted, double measured) {
  nlohmann::json pair{{"predicted", nullptr}, {"measured", measured}};
  if (contender.is_predicted) {
    pair["predicted"] = predicted;
  }
  return pair;
}

nlohmann::json peak_json(const RunSetup& setup, const Contender& contender) {
  nlohmann::json predicted = nlohmann::json::object();
  const auto memory = memory_of(contender.predicted.schedule, plan_subject(setup));
  for (std::size_t place = 0; place < memory.size(); ++place) {
    const std::string& name = (*setup.lanes)[place].name();
    if (memory[place].active) {
      predicted[name] = memory[place].lane.total();
    }
    if (memory[place].staging.total() > 0) {
      predicted[name + "/staging"] = memory[place].staging.total();
    }
    if (memory[place].file.total() > 0) {
      predicted[name + "/file"] = memory[place].file.total();
    }
  }
  nlohmann::json measured = nlohmann::json::object();
  for (const train::LaneUsage& usage : contender.memory) {
    measured[usage.lane] = usage.used.total();
  }
  return {{"predicted", predicted}, {"measured", measured}};
}

MemoryEfficiency measured_efficiency(const ContestResult& result) {
  std::vector<WayCost> costs;
  for (const Contender& one : result.contenders) {
    costs.push_back({one.predicted.policy, &one.predicted.schedule, one.median_step_s(),
                     max_lane_bytes(one.memory)});
  }
  return MemoryEfficiency(std::move(costs));
}

MemoryEfficiency predicted_efficiency(const RunSetup& setup, const ContestResult& result) {
  std::vector<WayCost> costs;
  for (const Contender& one : result.contenders) {
    const schedule::Schedule& schedule = one.predicted.schedule;
    costs.push_back({one.predicted.policy, &schedule, one.is_predicted ? one.predicted.step_s : 0.0,
                     max_lane_bytes(memory_of(schedule, plan_subject(setup)))});
  }
  return MemoryEfficiency(std::move(costs));
}

nlohmann::json or_null(std::optional<double> number) {
  return number ? nlohmann::json(*number) : nlohmann::json();
}

/// What `exposed_s` says of the predicted step, of the stage or place that has most.
template <class Exposed>
double predicted_exposed_s(const Contender& contender, Exposed&& exposed_s) {
  const plan::Candidate& predicted = contender.predicted;
  return contender.is_predicted
             ? std::ranges::max(exposed_s(predicted.schedule, predicted.simulation.tasks))
             : 0.0;
}

nlohmann::json row_of(const RunSetup& setup, const ContestResult& result,
                      const Contender& contender) {
  const plan::Candidate& predicted = contender.predicted;
  const schedule::Schedule& schedule = predicted.schedule;
  return {{"policy", predicted.policy},
          {"deck", contender.way.decided().deck_line()},
          {"placement", placement_json(*setup.graph, schedule)},
          {"step_s", pair_json(contender, predicted.step_s, contender.median_step_s())},
          {"round_s", contender.round_s},
          {"speedup", pair_json(contender, over(result.predicted_single_step_s, predicted.step_s),
                                over(result.single_step_s, contender.median_step_s()))},
          {"idle", pair_json(contender, contender.is_predicted ? predicted.idle_share() : 0.0,
                             contender.median_idle())},
          {"exposed_exchange_s",
           pair_json(contender, predicted_exposed_s(contender, plan::exposed_exchange_s),
                     median(contender.exposed_exchange_s))},
          {"exposed_broadcast_s",
           pair_json(contender, predicted_exposed_s(contender, plan::exposed_broadcast_s),
                     median(contender.exposed_broadcast_s))},
          {"bytes", contender.step_bytes()},
          {"messages", schedule.traffic_messages()},
          {"peak_bytes", peak_json(setup, contender)},
          {"staleness", plan::largest_staleness(schedule)},
          {"synchronous", plan::is_synchronous(schedule)},
          {"loss", contender.loss},
          {"weights_xxh64", contender.weights_xxh64}};
}

std::string two(const Contender& contender, const std::string& predicted,
                const std::string& measured) {
  return (contender.is_predicted ? predicted : "-") + " / " + measured;
}

std::vector<std::string> cells_of(const ContestResult& result, const Contender& contender,
                                  const std::string& efficiency, bool best) {
  const plan::Candidate& predicted = contender.predicted;
  std::size_t bytes = 0;
  for (const train::LaneUsage& usage : contender.memory) {
    bytes += usage.used.total();
  }
  const double idle = contender.is_predicted ? predicted.idle_share() : 0.0;
  return {
      best ? "*" : "",
      predicted.policy,
      two(contender, text_of_seconds(predicted.step_s), text_of_seconds(contender.median_step_s())),
      two(contender, text_of_speedup(over(result.predicted_single_step_s, predicted.step_s)),
          text_of_speedup(over(result.single_step_s, contender.median_step_s()))),
      two(contender, fmt::format("{:.0f} %", 100.0 * idle),
          fmt::format("{:.0f} %", 100.0 * contender.median_idle())),
      memory::text_of_bytes(static_cast<std::size_t>(contender.step_bytes())),
      text_of_count(predicted.schedule.traffic_messages()),
      memory::text_of_bytes(bytes),
      efficiency,
      std::to_string(plan::largest_staleness(predicted.schedule)),
      fmt::format("{:.5g}", contender.loss)};
}

}  // namespace

ContestResult result_of(const RunSetup& setup, std::vector<Contender> contenders) {
  ContestResult result;
  for (const Contender& contender : contenders) {
    const double step_s = contender.median_step_s();
    if (!contender.predicted.is_split() &&
        (result.single_step_s == 0.0 || step_s < result.single_step_s)) {
      result.single_step_s = step_s;
      result.predicted_single_step_s = contender.predicted.step_s;
    }
  }
  result.contenders = std::move(contenders);
  result.best = fastest_of(setup, result.contenders);
  result.not_told_apart = not_told_apart(result.contenders, result.best);
  std::erase_if(result.not_told_apart,
                [&](std::size_t i) { return !may_be_recommended(setup, result.contenders[i]); });
  result.reason = reason_of(setup, result);
  return result;
}

std::string contest_table(const ContestResult& result) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{{""}, {"policy"}};
  for (const char* head :
       {"step", "speed-up", "idle", "moved", "messages", "memory", "ME", "stale", "loss"}) {
    columns.push_back({head, Align::right});
  }
  Table table(columns);
  const MemoryEfficiency efficiency = measured_efficiency(result);
  for (std::size_t i = 0; i < result.contenders.size(); ++i) {
    table.add(cells_of(result, result.contenders[i], efficiency.text_of(i), i == result.best));
  }
  return table.text() + efficiency.legend_below();
}

nlohmann::json contest_json(const RunSetup& setup, const ContestResult& result) {
  nlohmann::json rows = nlohmann::json::array();
  const MemoryEfficiency predicted = predicted_efficiency(setup, result);
  const MemoryEfficiency measured = measured_efficiency(result);
  for (std::size_t i = 0; i < result.contenders.size(); ++i) {
    rows.push_back(row_of(setup, result, result.contenders[i]));
    rows.back()["memory_efficiency"] = {{"predicted", or_null(predicted.of(i))},
                                        {"measured", or_null(measured.of(i))}};
  }
  return {{"deck", setup.name},
          {"link_precision", json_of(setup.codecs)},
          {"rows", rows},
          {"recommended", result.contenders[result.best].predicted.policy},
          {"not_told_apart", policies_of(result, result.not_told_apart)},
          {"reason", result.reason}};
}

}  // namespace zygos::app
