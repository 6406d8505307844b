// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces as write_trace() makes them, of two places that do one thing each.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::test {

inline nlohmann::json track_name(int process, int track, const std::string& name) {
  return {{"name", "thread_name"},
          {"ph", "M"},
          {"pid", process},
          {"tid", track},
          {"args", {{"name", name}}}};
}

/// Step 0 is that of evaluations; no step: a predicted task.
inline nlohmann::json task_event(std::uint64_t step, int track, const std::string& task,
                                 double start_us, double duration_us, bool predicted = false) {
  nlohmann::json args{{"task", task},
                      {"samples", {0, 8}},
                      {"bytes", 2048},
                      {"reads", {"weights@host"}},
                      {"writes", {"activations@host"}}};
  if (!predicted) {
    args["step"] = step;
  }
  return {{"name", "forward"}, {"ph", "X"},      {"pid", predicted ? 2 : 1},
          {"tid", track},      {"ts", start_us}, {"dur", duration_us},
          {"args", args}};
}

inline nlohmann::json memory_event(const std::string& place, double time_us, double weights,
                                   double activations, bool predicted = false) {
  return {{"name", "memory " + place},
          {"ph", "C"},
          {"pid", predicted ? 2 : 1},
          {"tid", 0},
          {"ts", time_us},
          {"args", {{"weights", weights}, {"activations", activations}}}};
}

/// Steps 1 to `steps` of 100 us each: the host computes for 60 us, then the device for 40 us.
inline nlohmann::json sample_trace(std::uint64_t steps) {
  nlohmann::json events{track_name(1, 0, "host"), track_name(1, 4, "device")};
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const double start = static_cast<double>(step) * 110.0;
    events.push_back(task_event(step, 0, "forward@host", start, 60.0));
    events.push_back(task_event(step, 4, "forward@device", start + 60.0, 40.0));
  }
  events.push_back(task_event(0, 0, "forward@host", 1.0, 2.0));
  events.push_back(task_event(1, 0, "forward@host", 110.0, 50.0, true));
  events.push_back(task_event(1, 4, "forward@device", 160.0, 50.0, true));
  return {{"zygos", {{"places", {"host", "device"}}, {"policy", "toy"}, {"batch", 8}}},
          {"traceEvents", events}};
}

}  // namespace zygos::test
