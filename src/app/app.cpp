// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include "app/command_line.hpp"
#include "app/commands/commands.hpp"
#include "app/console.hpp"
#include "app/failure.hpp"
#include "app/run/ranks.hpp"

#include "zygos/comm/mpi_session.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <string>
#include <thread>

namespace zygos::app {

namespace {

void print_failure(Console& console, const Failure& failure) {
  if (failure.has_layout) {
    console.error_text(failure.message);
  } else {
    console.error(failure.message);
  }
  if (console.wants_json() && !console.json_written()) {
    console.json(
        {{"error", {{"code", static_cast<int>(failure.code)}, {"message", failure.message}}}});
  }
}

/// A rank that has failed alone ends all others after it has said why.
void fail_alone(Console& console, Failure failure, const Ranks& ranks) {
  if (failure.code == ExitCode::peer) {
    // Another one has failed, and is about to say why and to end this one.
    std::this_thread::sleep_for(std::chrono::seconds(3));
  } else {
    failure.message = fmt::format("{}: {}", ranks.name_of(ranks.rank()), failure.message);
  }
  console.speak_up();
  print_failure(console, failure);
  ranks.end_all(failure);
}

ExitCode run_command(const Invocation& invocation, Console& console, const Ranks& ranks) {
  const auto table = commands();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Command& command) {
    return command.name == invocation.command;
  });
  ZYGOS_REQUIRE(found != table.end(), "the parser accepted an unknown command");
  if (found->run_on_ranks != nullptr) {
    return found->run_on_ranks(invocation, console, ranks);
  }
  ranks.together([&] {
    if (!ranks.alone()) {
      throw UsageError(fmt::format(
          "{} processes were started, but zygos {} is work for one: start it without mpirun. "
          "Only train and resume share their work among processes",
          ranks.size(), invocation.command));
    }
  });
  return found->run(invocation, console);
}

ExitCode print_text(const Parsed& parsed, Console& console, const Ranks& ranks) {
  if (parsed.code != ExitCode::done) {
    print_failure(console, {parsed.code, parsed.text, parsed.has_layout});
  } else if (ranks.first()) {
    console.print(parsed.text.ends_with('\n') ? parsed.text : parsed.text + "\n");
  }
  return parsed.code;
}

/// Throws what this rank alone has failed with.
ExitCode run_parsed(const Parsed& parsed, Console& console, const Ranks& ranks) {
  if (!parsed.invocation) {
    return print_text(parsed, console, ranks);
  }
  try {
    return run_command(*parsed.invocation, console, ranks);
  } catch (...) {
    const Failure failure = current_failure();
    if (!ranks.alone() && !failure.shared) {
      throw;
    }
    print_failure(console, failure);
    return failure.code;
  }
}

/// What was done but not told is not done for a script that reads the output.
ExitCode with_whole_output(ExitCode code, Console& console) {
  const auto failure = console.stdout_failure();
  if (!failure || code != ExitCode::done) {
    return code;
  }
  console.error(*failure + "; the command did its work, its output is incomplete");
  return ExitCode::io;
}

ExitCode run_as_rank(const Parsed& parsed, const Ranks& ranks) {
  ConsoleOptions options =
      parsed.invocation ? parsed.invocation->console : ConsoleOptions{.json = parsed.json};
  options.silent = !ranks.first();
  Console console(options);
  try {
    const ExitCode code = with_whole_output(run_parsed(parsed, console, ranks), console);
    // Launchers take the first process that ends with a code other than 0 for a failure, and end
    // the others, which might not be done yet.
    ranks.wait_for_all();
    return code;
  } catch (...) {
    const Failure failure = current_failure();
    fail_alone(console, failure, ranks);
    return failure.code;
  }
}

}  // namespace

int run(int argc, const char* const* argv) noexcept {
  try {
    const Parsed parsed = parse_command_line(argc, argv);
    try {
      const comm::MpiSession session;
      const Ranks ranks(session);
      return static_cast<int>(run_as_rank(parsed, ranks));
    } catch (...) {
      const Failure failure = current_failure();
      Console console({.json = parsed.json});
      print_failure(console, failure);
      return static_cast<int>(failure.code);
    }
  } catch (const std::bad_alloc&) {
    // Nothing here may allocate.
    std::fputs("error: the machine has no memory left for this; end other programs\n", stderr);
    return static_cast<int>(ExitCode::memory);
  } catch (...) {
    std::fputs("error: zygos failed before it could say why\n", stderr);
    return static_cast<int>(ExitCode::bug);
  }
}

}  // namespace zygos::app
