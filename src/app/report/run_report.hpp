// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run says on the console before its first and after its last step.
#pragma once

#include "app/console.hpp"
#include "app/plan/run_plan.hpp"
#include "app/report/run_summary.hpp"
#include "app/run/run_setup.hpp"

#include <string>

namespace zygos::app {

/// Model, data and lanes, a line each.
void say_setup(const RunSetup& setup, Console& console);
/// Who does what, what was decided, the prediction, and the planner's advice where it would not.
void say_plan(const RunSetup& setup, const RunPlan& plan, Console& console);

/// One line about what happens, behind a name in bold; further lines of the text below it.
void note_field(Console& console, const std::string& name, const std::string& text);
/// The same of the result.
void say_field(Console& console, const std::string& name, const std::string& text);
void say_end(const RunSetup& setup, const RunPlan& plan, const RunEnd& end, Console& console);

/// "host    OpenMP, 2 threads", without the name.
std::string lane_text(const lane::LaneSpec& spec);

}  // namespace zygos::app
