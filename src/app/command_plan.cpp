// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/plan_report.hpp"
#include "app/run_report.hpp"
#include "app/split_plan.hpp"
#include "app/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zygos::app {

ExitCode run_plan(const Invocation& invocation, Console& console) {
  RunSetup setup =
      build_run(load_deck(invocation.target, invocation.overrides), build_options(invocation));
  say_setup(setup, console);
  console.note("");
  console.status("measuring the lanes ...");
  const LogSink progress = [&](LogLevel, std::string_view line) { console.detail(line); };
  const train::PlanResult planned = train::make_plan(profile_request(setup, progress));
  const plan::Recommendation& found = planned.recommendation;
  const PlanSubject subject = plan_subject(setup);
  console.say(fmt::format("One step of {} samples, predicted from what was just measured:",
                          text_of_count(setup.trainer.batch)));
  console.say("");
  console.say(plan_table(found, subject));
  console.say("");
  console.say(fmt::format("{} {}", console.tinted(Tint::bold, "Recommended:"),
                          found.candidates[found.best].policy));
  console.say(wrapped(found.reason));
  if (console.wants_json()) {
    console.json(plan_json(found, subject));
  }
  return ExitCode::done;
}

}  // namespace zygos::app
