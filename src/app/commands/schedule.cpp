// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the deck's policy does in a step, as text, picture or JSON.
#include "app/commands/commands.hpp"
#include "app/picture/schedule_picture.hpp"
#include "app/picture/unit_times.hpp"
#include "app/plan/profile_cache.hpp"
#include "app/plan/run_plan.hpp"
#include "app/run/build_run.hpp"
#include "app/run/pretrained.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace zygos::app {

namespace {

struct BuiltStep {
  schedule::Schedule schedule;
  plan::Simulation times;
  TimeUnit unit = TimeUnit::forward_pass;
};

BuiltStep step_of(RunSetup& setup, const Invocation& invocation, Console& console) {
  BuiltStep step;
  if (invocation.measured) {
    const plan::Profile profile = profile_of(setup, invocation.fresh_profile, console);
    step.schedule = setup.policy->schedule(setup.problem(), &profile);
    step.times = plan::simulate(step.schedule, profile);
    step.unit = TimeUnit::second;
  } else {
    step.schedule = unmeasured_schedule(setup);
    step.times = unit_times(step.schedule);
  }
  return step;
}

nlohmann::json task_json(const BuiltStep& step, std::size_t index) {
  const schedule::Task& task = step.schedule.tasks[index];
  nlohmann::json object{{"name", step.schedule.name_of(static_cast<schedule::TaskId>(index))},
                        {"kind", name_of(task.kind)},
                        {"lane", step.schedule.places[step.schedule.lane_of(task.place)]},
                        {"place", step.schedule.places[static_cast<std::size_t>(task.place)]},
                        {"queue", name_of(task.queue)},
                        {"after", task.after},
                        {"bytes", task.bytes},
                        {"start", step.times.tasks[index].start_s},
                        {"end", step.times.tasks[index].end_s}};
  if (task.samples.count() > 0) {
    object["micro_batch"] = task.micro_batch;
  }
  return object;
}

nlohmann::json json_of(const BuiltStep& step) {
  nlohmann::json tasks = nlohmann::json::array();
  for (std::size_t index = 0; index < step.schedule.tasks.size(); ++index) {
    tasks.push_back(task_json(step, index));
  }
  nlohmann::json messages = nlohmann::json::array();
  for (const Arrow& arrow : arrows_of(step.schedule)) {
    messages.push_back({{"from", arrow.from}, {"to", arrow.to}});
  }
  return {{"policy", step.schedule.policy},
          {"batch", step.schedule.batch},
          {"micro_batches", step.schedule.micro_batches.size()},
          {"time_unit", step.unit == TimeUnit::second ? "s" : "forward pass"},
          {"makespan", step.times.makespan_s},
          {"tasks", std::move(tasks)},
          {"messages", std::move(messages)}};
}

/// Before anything is built: an ending that says how to write.
void require_known_ending(const std::string& output) {
  const std::string ending = std::filesystem::path(output).extension().string();
  if (!output.empty() && ending != ".svg" && ending != ".txt" && ending != ".json") {
    throw UsageError(
        fmt::format("--output {}: a schedule is written as .svg (a picture), .txt or "
                    ".json; give a name that ends so",
                    output));
  }
}

std::string text_for(const BuiltStep& step, const std::string& output) {
  if (output.ends_with(".svg")) {
    return schedule_picture(step.schedule, step.times, step.unit);
  }
  return output.ends_with(".json") ? json_of(step).dump(1) + "\n" : step.schedule.text();
}

}  // namespace

ExitCode run_schedule(const Invocation& invocation, Console& console) {
  require_known_ending(invocation.output);
  const load::CheckedDeck deck = load::load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  freeze_as_loaded(deck, setup);
  const BuiltStep step = step_of(setup, invocation, console);
  if (!invocation.output.empty()) {
    io::write_file_atomically(invocation.output, text_for(step, invocation.output));
    console.say(invocation.output);
  } else if (!console.wants_json()) {
    // To the byte, as golden schedules are compared.
    console.print(step.schedule.text());
  }
  if (console.wants_json()) {
    console.json(json_of(step));
  }
  return ExitCode::done;
}

}  // namespace zygos::app
