// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan_report.hpp"

#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace zygos::app {

namespace {

std::vector<bool> host_accessible(const lane::LaneSet& lanes) {
  std::vector<bool> result;
  for (std::size_t place = 0; place < lanes.size(); ++place) {
    result.push_back(lanes[place].host_accessible());
  }
  return result;
}

/// Whole idle time of a step: of the places that take part, as a share of their time.
double idle_share(const plan::Candidate& candidate) {
  const auto active = candidate.schedule.active_places();
  double idle = 0.0;
  for (const schedule::Place place : active) {
    idle += candidate.simulation.idle_s[static_cast<std::size_t>(place)];
  }
  const double total = candidate.simulation.makespan_s * static_cast<double>(active.size());
  return total > 0.0 ? idle / total : 0.0;
}

nlohmann::json row_of(const plan::Candidate& candidate, const PlanSubject& subject) {
  const Traffic traffic = traffic_of(candidate.schedule);
  nlohmann::json samples = nlohmann::json::object();
  for (std::size_t place = 0; place < subject.lanes.size(); ++place) {
    samples[subject.lanes[place].name()] = candidate.samples[place];
  }
  return {{"policy", candidate.policy},
          {"samples", samples},
          {"step_s", {{"predicted", candidate.step_s}}},
          {"speedup", {{"predicted", candidate.speedup}}},
          {"idle", idle_share(candidate)},
          {"bytes", traffic.bytes},
          {"messages", traffic.messages},
          {"peak_bytes", memory_json(memory_of(candidate.schedule, subject), subject)}};
}

std::vector<std::string> cells_of(const plan::Candidate& candidate, bool best,
                                  const PlanSubject& subject) {
  const auto memory = memory_of(candidate.schedule, subject);
  std::vector<std::string> cells{best ? "*" : "", candidate.policy};
  for (const std::int64_t samples : candidate.samples) {
    cells.push_back(samples == 0 ? "-" : text_of_count(samples));
  }
  const Traffic traffic = traffic_of(candidate.schedule);
  cells.push_back(text_of_seconds(candidate.step_s));
  cells.push_back(text_of_speedup(candidate.speedup));
  cells.push_back(fmt::format("{:.0f} %", 100.0 * idle_share(candidate)));
  cells.push_back(memory::text_of_bytes(static_cast<std::size_t>(traffic.bytes)));
  for (const auto& place : memory) {
    const std::size_t bytes = place.active ? place.lane.total() + place.staging.total() : 0;
    cells.push_back(bytes == 0 ? "-" : memory::text_of_bytes(bytes));
  }
  return cells;
}

}  // namespace

Traffic traffic_of(const schedule::Schedule& schedule) {
  Traffic traffic{schedule.traffic_bytes(), schedule.traffic_messages()};
  for (const schedule::Task& task : schedule.tasks) {
    if (task.kind == schedule::TaskKind::copy) {
      traffic.bytes += task.bytes;
      ++traffic.messages;
    }
  }
  return traffic;
}

std::vector<plan::PlaceMemory> memory_of(const schedule::Schedule& schedule,
                                         const PlanSubject& subject) {
  return plan::plan_memory({subject.graph, subject.optimizer, subject.dtype, subject.target,
                            host_accessible(subject.lanes)},
                           schedule);
}

std::string plan_table(const plan::Recommendation& recommendation, const PlanSubject& subject) {
  using Align = Table::Align;
  std::vector<Table::Column> columns{{""}, {"policy"}};
  for (std::size_t place = 0; place < subject.lanes.size(); ++place) {
    columns.push_back({subject.lanes[place].name(), Align::right});
  }
  for (const char* head : {"step", "speed-up", "idle", "moved"}) {
    columns.push_back({head, Align::right});
  }
  for (std::size_t place = 0; place < subject.lanes.size(); ++place) {
    columns.push_back({"memory " + subject.lanes[place].name(), Align::right});
  }
  Table table(columns);
  for (std::size_t i = 0; i < recommendation.candidates.size(); ++i) {
    table.add(cells_of(recommendation.candidates[i], i == recommendation.best, subject));
  }
  return table.text();
}

nlohmann::json plan_json(const plan::Recommendation& recommendation, const PlanSubject& subject) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& candidate : recommendation.candidates) {
    rows.push_back(row_of(candidate, subject));
  }
  return {{"rows", rows},
          {"recommended", recommendation.candidates[recommendation.best].policy},
          {"upper_bound", recommendation.upper_bound},
          {"reason", recommendation.reason}};
}

std::string memory_table(const std::vector<plan::PlaceMemory>& places, const PlanSubject& subject) {
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

nlohmann::json memory_json(const std::vector<plan::PlaceMemory>& places,
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

}  // namespace zygos::app
