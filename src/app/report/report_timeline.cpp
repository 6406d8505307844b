// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/report/report_timeline.hpp"

#include "core/median.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::app {

namespace {

using nlohmann::json;

// As write_trace() numbers them.
constexpr std::int64_t measured_process = 1;
constexpr std::int64_t predicted_process = 2;
constexpr std::int64_t tracks_per_place = 4;

struct Event {
  std::int64_t track = 0;
  std::size_t task = 0;
  double start_us = 0.0;
  double end_us = 0.0;
};

struct TimelineStep {
  std::vector<Event> events;
  double start_us = 0.0;
  double end_us = 0.0;

  void add(const Event& event) {
    start_us = events.empty() ? event.start_us : std::min(start_us, event.start_us);
    end_us = events.empty() ? event.end_us : std::max(end_us, event.end_us);
    events.push_back(event);
  }
};

/// A trace, taken apart.
struct Parts {
  std::map<std::uint64_t, TimelineStep> steps;
  TimelineStep predicted;
  std::map<std::int64_t, std::string> track_names;
  json tasks = json::array();
  std::map<std::string, std::size_t> task_numbers;
  std::vector<const json*> counters;
};

/// What is the same for a task in every step is embedded once.
std::size_t task_number(Parts& parts, const json& event) {
  const json& args = event.at("args");
  const std::string text = args.at("task");
  const auto [found, is_new] = parts.task_numbers.try_emplace(text, parts.tasks.size());
  if (is_new) {
    json task{{"kind", event.at("name")}, {"text", text}};
    for (const char* key : {"samples", "micro_batch", "bytes"}) {
      if (args.contains(key)) {
        task[key] = args[key];
      }
    }
    for (const char* key : {"reads", "writes"}) {
      task[key] = args.value(key, json::array());
    }
    parts.tasks.push_back(std::move(task));
  }
  return found->second;
}

void take_task(Parts& parts, const json& event) {
  const double start_us = event.at("ts");
  const Event taken{event.at("tid"), task_number(parts, event), start_us,
                    start_us + event.at("dur").get<double>()};
  if (event.at("pid") == predicted_process) {
    parts.predicted.add(taken);
    return;
  }
  // Step 0 is what evaluations are recorded as.
  const std::uint64_t step = event.at("args").at("step");
  if (event.at("pid") == measured_process && step > 0) {
    parts.steps[step].add(taken);
  }
}

Parts parts_of(const json& trace) {
  Parts parts;
  for (const json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "X") {
      take_task(parts, event);
    } else if (phase == "C") {
      parts.counters.push_back(&event);
    } else if (phase == "M" && event.at("name") == "thread_name") {
      parts.track_names[event.at("tid").get<std::int64_t>()] = event.at("args").at("name");
    }
  }
  return parts;
}

/// The recorder forgets the oldest tasks one by one, place by place: its first steps have holes.
void drop_cut_steps(std::map<std::uint64_t, TimelineStep>& steps) {
  std::size_t whole = 0;
  for (const auto& [number, step] : steps) {
    whole = std::max(whole, step.events.size());
  }
  std::erase_if(steps, [&](const auto& entry) { return entry.second.events.size() < whole; });
}

/// Time of [start, end] in which none of the track's events runs.
double idle_us(const TimelineStep& step, std::int64_t track) {
  std::vector<std::pair<double, double>> busy;
  for (const Event& event : step.events) {
    if (event.track == track) {
      busy.emplace_back(event.start_us, event.end_us);
    }
  }
  std::sort(busy.begin(), busy.end());
  double idle = 0.0;
  double free_from = step.start_us;
  for (const auto& [start, end] : busy) {
    idle += std::max(0.0, start - free_from);
    free_from = std::max(free_from, end);
  }
  return idle + std::max(0.0, step.end_us - free_from);
}

/// Median time from the end of a step to the start of the next; null if no two follow each other.
json gap_between(const std::map<std::uint64_t, TimelineStep>& steps) {
  std::vector<double> gaps;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    const auto next = std::next(step);
    if (next != steps.end() && next->first == step->first + 1) {
      gaps.push_back(std::max(0.0, next->second.start_us - step->second.end_us));
    }
  }
  return gaps.empty() ? json(nullptr) : json(median(gaps));
}

bool works_on(const TimelineStep& step, std::int64_t track) {
  return std::ranges::find(step.events, track, &Event::track) != step.events.end();
}

/// Of all steps, of which the page may hold some alone.
json median_span(const std::vector<const TimelineStep*>& steps) {
  std::vector<double> spans;
  for (const TimelineStep* step : steps) {
    spans.push_back(step->end_us - step->start_us);
  }
  return spans.empty() ? json(nullptr) : json(median(spans));
}

/// A place computes on its first track; one that never does is not used, not idle. Medians over the
/// steps, as one in which the machine did something else may take as long as all others together.
json idle_shares(const Parts& parts, const std::vector<const TimelineStep*>& steps) {
  json shares = json::object();
  for (const auto& [track, name] : parts.track_names) {
    std::vector<double> of_steps;
    if (track % tracks_per_place != 0 ||
        std::ranges::none_of(steps, [t = track](const auto* step) { return works_on(*step, t); })) {
      continue;
    }
    for (const TimelineStep* step : steps) {
      if (const double whole = step->end_us - step->start_us; whole > 0.0) {
        of_steps.push_back(idle_us(*step, track) / whole);
      }
    }
    if (!of_steps.empty()) {
      shares[name] = median(of_steps);
    }
  }
  return shares;
}

json json_of(const TimelineStep& step, const std::map<std::int64_t, std::size_t>& index_of_track) {
  json events = json::array();
  for (const Event& event : step.events) {
    events.push_back({index_of_track.at(event.track), event.task, event.start_us - step.start_us,
                      event.end_us - event.start_us});
  }
  return {{"start_us", step.start_us},
          {"span_us", step.end_us - step.start_us},
          {"events", std::move(events)}};
}

std::vector<std::uint64_t> steps_to_keep(const std::map<std::uint64_t, TimelineStep>& steps,
                                         const ReportLimits& limits) {
  std::vector<std::uint64_t> kept;
  if (steps.empty()) {
    return kept;
  }
  const std::size_t tasks = std::max<std::size_t>(1, steps.begin()->second.events.size());
  const std::size_t most = std::clamp<std::size_t>(limits.timeline_tasks / tasks, 1,
                                                   std::max<std::size_t>(1, limits.steps));
  for (auto step = steps.rbegin(); step != steps.rend() && kept.size() < most; ++step) {
    kept.push_back(step->first);
  }
  // The first step is unlike all others: caches are cold, kernels load.
  if (steps.begin()->first == 1 && kept.back() != 1) {
    kept.push_back(1);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// The moment bytes are counted from: the start of the step they were counted in.
std::pair<json, double> origin_of(double time_us,
                                  const std::map<std::uint64_t, TimelineStep>& steps) {
  for (const auto& [number, step] : steps) {
    if (step.start_us <= time_us && time_us <= step.end_us) {
      return {number, step.start_us};
    }
  }
  return {nullptr, time_us};
}

constexpr std::string_view memory_prefix = "memory ";

/// Counters of memory by place and tier, in order of time.
std::map<std::string, std::vector<const json*>> memory_counters(const Parts& parts,
                                                                std::int64_t process) {
  std::map<std::string, std::vector<const json*>> places;
  for (const json* counter : parts.counters) {
    const std::string name = counter->at("name");
    if (counter->at("pid") == process && name.starts_with(memory_prefix)) {
      places[name.substr(memory_prefix.size())].push_back(counter);
    }
  }
  for (auto& [place, counters] : places) {
    std::stable_sort(counters.begin(), counters.end(), [](const json* a, const json* b) {
      return a->at("ts").get<double>() < b->at("ts").get<double>();
    });
  }
  return places;
}

double first_time_us(const std::map<std::string, std::vector<const json*>>& places) {
  double first_us = places.begin()->second.front()->at("ts");
  for (const auto& [place, counters] : places) {
    first_us = std::min(first_us, counters.front()->at("ts").get<double>());
  }
  return first_us;
}

json memory_of(const Parts& parts) {
  const auto measured = memory_counters(parts, measured_process);
  const auto predicted = memory_counters(parts, predicted_process);
  if (measured.empty()) {
    return nullptr;
  }
  std::vector<std::string> categories;
  for (const auto& [category, bytes] : measured.begin()->second.front()->at("args").items()) {
    categories.push_back(category);
  }
  const auto [step, origin_us] = origin_of(first_time_us(measured), parts.steps);
  json places = json::object();
  for (const auto& [place, counters] : measured) {
    for (const json* counter : counters) {
      json sample{counter->at("ts").get<double>() - origin_us};
      for (const std::string& category : categories) {
        sample.push_back(counter->at("args").at(category).get<double>());
      }
      places[place].push_back(std::move(sample));
    }
  }
  json totals = json::object();
  const double predicted_from_us = predicted.empty() ? 0.0 : first_time_us(predicted);
  for (const auto& [place, counters] : predicted) {
    for (const json* counter : counters) {
      double bytes = 0.0;
      for (const auto& [category, one] : counter->at("args").items()) {
        bytes += one.get<double>();
      }
      totals[place].push_back({counter->at("ts").get<double>() - predicted_from_us, bytes});
    }
  }
  return {{"step", step}, {"categories", categories}, {"places", places}, {"predicted", totals}};
}

}  // namespace

json timeline_of(const json& trace, const ReportLimits& limits) {
  Parts parts = parts_of(trace);
  const json memory = memory_of(parts);
  drop_cut_steps(parts.steps);
  std::map<std::int64_t, std::size_t> index_of_track;
  json tracks = json::array();
  for (const auto& [track, name] : parts.track_names) {
    index_of_track[track] = tracks.size();
    tracks.push_back(
        {{"name", name}, {"place", track / tracks_per_place}, {"queue", track % tracks_per_place}});
  }
  json steps = json::array();
  for (const std::uint64_t number : steps_to_keep(parts.steps, limits)) {
    json step = json_of(parts.steps.at(number), index_of_track);
    step["step"] = number;
    steps.push_back(std::move(step));
  }
  std::vector<const TimelineStep*> measured;
  for (const auto& [number, step] : parts.steps) {
    measured.push_back(&step);
  }
  const bool has_predicted = !parts.predicted.events.empty();
  json result = trace.value("zygos", json::object());
  result["tracks"] = tracks;
  result["tasks"] = parts.tasks;
  result["steps"] = steps;
  result["steps_in_trace"] = parts.steps.size();
  result["predicted"] = has_predicted ? json_of(parts.predicted, index_of_track) : json(nullptr);
  result["idle"] = {
      {"measured", idle_shares(parts, measured)},
      {"predicted", has_predicted ? idle_shares(parts, {&parts.predicted}) : json(nullptr)}};
  result["median_span_us"] = median_span(measured);
  result["gap_us"] = gap_between(parts.steps);
  result["memory"] = memory;
  return result;
}

}  // namespace zygos::app
