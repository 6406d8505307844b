// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every command is one file, command_<name>.cpp, and one line in commands.cpp.
#pragma once

#include "app/command_line.hpp"
#include "app/console.hpp"
#include "app/run/ranks.hpp"

#include "zygos/core/error.hpp"

#include <span>
#include <string>

namespace zygos::app {

ExitCode run_train(const Invocation& invocation, Console& console, const Ranks& ranks);
ExitCode run_resume(const Invocation& invocation, Console& console, const Ranks& ranks);
ExitCode run_eval(const Invocation& invocation, Console& console);
ExitCode run_predict(const Invocation& invocation, Console& console);
ExitCode run_export(const Invocation& invocation, Console& console);
ExitCode run_import(const Invocation& invocation, Console& console);
ExitCode run_check(const Invocation& invocation, Console& console);
ExitCode run_plan(const Invocation& invocation, Console& console);
ExitCode run_compare(const Invocation& invocation, Console& console);
ExitCode run_sweep(const Invocation& invocation, Console& console);
ExitCode run_find_rate(const Invocation& invocation, Console& console);
ExitCode run_schedule(const Invocation& invocation, Console& console);
ExitCode run_simulate(const Invocation& invocation, Console& console);
ExitCode run_bench(const Invocation& invocation, Console& console);
ExitCode run_inspect(const Invocation& invocation, Console& console);
ExitCode run_report(const Invocation& invocation, Console& console);
ExitCode run_info(const Invocation& invocation, Console& console);
ExitCode run_schema(const Invocation& invocation, Console& console);
ExitCode run_explain(const Invocation& invocation, Console& console);
ExitCode run_init(const Invocation& invocation, Console& console);
ExitCode run_completion(const Invocation& invocation, Console& console);
ExitCode run_man(const Invocation& invocation, Console& console);

struct Command {
  const char* name;
  const char* summary;
  const char* example;
  ExitCode (*run)(const Invocation&, Console&);  ///< in one process; null if on any number
  ExitCode (*run_on_ranks)(const Invocation&, Console&, const Ranks&) = nullptr;
};

/// In the order of `zygos --help`.
std::span<const Command> commands();

/// "zygos 0.1.0 (Kokkos 4.7.0; OpenMP, Serial)"
std::string version_line();

}  // namespace zygos::app
