// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/plan_report.hpp"

#include "app/plan/activation_choice.hpp"
#include "app/plan/placement.hpp"
#include "app/plan/plan_ways.hpp"
#include "app/report/memory_efficiency.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/memory/bytes.hpp"
#include "zygos/plan/exposed_time.hpp"
#include "zygos/plan/staleness.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace zygos::app {

namespace {

/// Batches that are copied into lanes with memory of their own.
std::int64_t copied_bytes(const schedule::Schedule& schedule) {
  std::int64_t bytes = 0;
  for (const schedule::Task& task : schedule.tasks) {
    bytes += task.kind == schedule::TaskKind::copy ? task.bytes : 0;
  }
  return bytes;
}

nlohmann::json options_json(const train::PolicyOptions& options) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : options) {
    object[key] = value;
  }
  return object;
}

MemoryEfficiency efficiency_of(const plan::Recommendation& found) {
  std::vector<WayCost> costs;
  for (const std::size_t i : found.order) {
    const plan::Candidate& one = found.candidates[i];
    costs.push_back({one.policy, &one.schedule, one.step_s, max_lane_bytes(one.peak)});
  }
  return MemoryEfficiency(std::move(costs));
}

nlohmann::json row_of(const Ways& ways, std::size_t i, const plan::Profile& profile,
                      const PlanSubject& subject) {
  const plan::Candidate& candidate = ways.found.candidates[i];
  const Trial* const trial = ways.trial_of(i);
  nlohmann::json samples = nlohmann::json::object();
  for (std::size_t place = 0; place < subject.lanes.size(); ++place) {
    samples[subject.lanes[place].name()] = candidate.samples[place];
  }
  const policies::PolicyChoice decided = ways.ways[i].decided();
  return {{"policy", candidate.policy},
          {"deck", decided.deck_line()},
          {"options", options_json(decided.options)},
          {"samples", samples},
          {"placement", placement_json(subject.graph, candidate.schedule)},
          {"step_s",
           {{"predicted", candidate.step_s},
            {"tried", trial == nullptr ? nlohmann::json() : nlohmann::json(trial->step_s)}}},
          {"speedup", {{"predicted", candidate.speedup}}},
          {"idle", candidate.idle_share()},
          {"bytes", candidate.bytes()},
          {"messages", candidate.messages()},
          {"copied_bytes", copied_bytes(candidate.schedule)},
          {"staleness", plan::largest_staleness(candidate.schedule)},
          {"synchronous", plan::is_synchronous(candidate.schedule)},
          {"reason", candidate.reason},
          {"exposed_exchange_s",
           {{"predicted", std::ranges::max(plan::exposed_exchange_s(candidate.schedule,
                                                                    candidate.simulation.tasks))}}},
          {"exposed_broadcast_s",
           {{"predicted", std::ranges::max(plan::exposed_broadcast_s(
                              candidate.schedule, candidate.simulation.tasks))}}},
          {"activations", json_of(activation_rows(subject.graph, candidate.schedule, profile))},
          {"peak_bytes", memory_json(memory_of(candidate.schedule, subject), subject)}};
}

/// More lanes than this are not shown one by one.
constexpr std::size_t max_memory_columns = 3;

std::vector<std::string> memory_cells(const plan::Candidate& candidate) {
  std::vector<std::string> cells;
  std::size_t most = 0;
  for (const memory::Usage& usage : candidate.peak) {
    most = std::max(most, usage.total());
    cells.push_back(usage.total() == 0 ? "-" : memory::text_of_bytes(usage.total()));
  }
  return cells.size() > max_memory_columns ? std::vector{memory::text_of_bytes(most)} : cells;
}

std::vector<std::string> cells_of(const Ways& ways, std::size_t i, const std::string& efficiency) {
  const plan::Candidate& candidate = ways.found.candidates[i];
  std::vector<std::string> cells{i == ways.found.best ? "*" : "",
                                 candidate.policy,
                                 text_of_seconds(candidate.step_s),
                                 text_of_speedup(candidate.speedup),
                                 fmt::format("{:.0f} %", 100.0 * candidate.idle_share()),
                                 memory::text_of_bytes(static_cast<std::size_t>(candidate.bytes())),
                                 text_of_count(candidate.messages()),
                                 std::to_string(plan::largest_staleness(candidate.schedule)),
                                 efficiency};
  if (!ways.trials.empty()) {
    const Trial* const trial = ways.trial_of(i);
    cells.insert(cells.begin() + 3, trial == nullptr ? "-" : text_of_seconds(trial->step_s));
  }
  const auto memory = memory_cells(candidate);
  cells.insert(cells.end(), memory.begin(), memory.end());
  return cells;
}

}  // namespace

std::vector<plan::PlaceMemory> place_memory_of(const schedule::Schedule& schedule,
                                               const PlanSubject& subject) {
  return plan::plan_memory(
      {subject.graph, subject.optimizer, subject.dtype, subject.target, subject.records_steps},
      schedule);
}

std::vector<plan::LaneMemory> memory_of(const schedule::Schedule& schedule,
                                        const PlanSubject& subject) {
  return plan::lane_memory(schedule, place_memory_of(schedule, subject));
}

std::string plan_table(const Ways& ways, const PlanSubject& subject) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{{""}, {"policy"}};
  for (const char* head : {"step", "speed-up", "idle", "moved", "messages", "stale", "ME"}) {
    columns.push_back({head, Align::right});
  }
  if (!ways.trials.empty()) {
    columns.insert(columns.begin() + 3, {"tried", Align::right});
  }
  if (subject.lanes.size() > max_memory_columns) {
    columns.push_back({"memory, most of a lane", Align::right});
  } else {
    for (std::size_t place = 0; place < subject.lanes.size(); ++place) {
      columns.push_back({"memory " + subject.lanes[place].name(), Align::right});
    }
  }
  Table table(columns);
  const MemoryEfficiency efficiency = efficiency_of(ways.found);
  for (std::size_t row = 0; row < ways.found.order.size(); ++row) {
    const std::size_t i = ways.found.order[row];
    table.add(cells_of(ways, i, efficiency.text_of(row)));
  }
  return table.text() + efficiency.legend_below();
}

nlohmann::json plan_json(const Ways& ways, const plan::Profile& profile,
                         const PlanSubject& subject) {
  nlohmann::json rows = nlohmann::json::array();
  const MemoryEfficiency efficiency = efficiency_of(ways.found);
  for (const std::size_t i : ways.found.order) {
    const auto found = efficiency.of(rows.size());
    rows.push_back(row_of(ways, i, profile, subject));
    rows.back()["memory_efficiency"] = {
        {"predicted", found ? nlohmann::json(*found) : nlohmann::json()}};
  }
  nlohmann::json refusals = nlohmann::json::array();
  for (const plan::Refusal& refusal : ways.found.refusals) {
    refusals.push_back({{"policy", refusal.policy}, {"reason", refusal.reason}});
  }
  return {{"rows", rows},
          {"refusals", refusals},
          {"recommended", ways.best().policy},
          {"deck", ways.best_way().decided().deck_line()},
          {"upper_bound", ways.found.upper_bound},
          {"reason", ways.found.reason},
          {"remarks", ways.remarks}};
}

std::string memory_table(const std::vector<plan::LaneMemory>& places, const PlanSubject& subject) {
  std::vector<Table::Column> columns{{"memory"}};
  std::vector<memory::Usage> usages;
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (places[place].active) {
      columns.push_back({subject.lanes[place].name(), Table::Align::right});
      usages.push_back(places[place].lane.usage());
      if (places[place].staging.total() > 0) {
        columns.push_back({subject.lanes[place].name() + " (staging)", Table::Align::right});
        usages.push_back(places[place].staging.usage());
      }
      if (places[place].file.total() > 0) {
        columns.push_back({subject.lanes[place].name() + " (file)", Table::Align::right});
        usages.push_back(places[place].file.usage());
      }
    }
  }
  Table table(columns);
  for (const memory::Category category : memory::all_categories) {
    std::vector<std::string> cells{std::string(memory::name_of(category))};
    for (const auto& usage : usages) {
      cells.push_back(usage[category] == 0 ? "-" : memory::text_of_bytes(usage[category]));
    }
    table.add(cells);
  }
  std::vector<std::string> totals{"total"};
  for (const auto& usage : usages) {
    totals.push_back(memory::text_of_bytes(usage.total()));
  }
  table.add(totals);
  return table.text();
}

nlohmann::json memory_json(const std::vector<plan::LaneMemory>& places,
                           const PlanSubject& subject) {
  const auto json_of = [](const memory::ArenaLayout& layout) {
    const memory::Usage usage = layout.usage();
    nlohmann::json object{{"total", usage.total()}};
    for (const memory::Category category : memory::all_categories) {
      object[std::string(memory::name_of(category))] = usage[category];
    }
    return object;
  };
  nlohmann::json result = nlohmann::json::object();
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (places[place].active) {
      const std::string& name = subject.lanes[place].name();
      result[name] = json_of(places[place].lane);
      if (places[place].staging.total() > 0) {
        result[name + "/staging"] = json_of(places[place].staging);
      }
      if (places[place].file.total() > 0) {
        result[name + "/file"] = json_of(places[place].file);
      }
    }
  }
  return result;
}

std::string wrapped(const std::string& text, std::size_t columns) {
  std::istringstream words(text);
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    if (used > 0 && used + 1 + word.size() > columns) {
      result += "\n";
      used = 0;
    }
    result += (used > 0 ? " " : "") + word;
    used += (used > 0 ? 1 : 0) + word.size();
  }
  return result;
}

void say_recommended(Console& console, const std::string& policy) {
  const std::string head = "Recommended:";
  console.say(head + " " + policy, head.size());
}

}  // namespace zygos::app
