// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/app.hpp"

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/console.hpp"

#include "zygos/deck/findings.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

namespace zygos::app {

namespace {

struct Failure {
  ExitCode code = ExitCode::bug;
  std::string message;
  bool has_layout = false;  ///< the message is compiler-style text of its own
};

/// Kokkos reports a failed allocation as std::runtime_error with these words.
bool tells_of_memory(const std::string& message) {
  return message.find("failed to allocate") != std::string::npos ||
         message.find("out of memory") != std::string::npos;
}

Failure current_failure() {
  try {
    throw;
  } catch (const deck::DeckError& findings) {
    return {findings.code(), findings.what(), true};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::memory,
            "the machine has no memory left for this; use a smaller batch or model, or end other "
            "programs"};
  } catch (const std::exception& error) {
    const std::string message = error.what();
    if (tells_of_memory(message)) {
      return {ExitCode::memory, message};
    }
    return {ExitCode::bug, message + "\nThis is a bug in zygos; please report it with the deck."};
  } catch (...) {
    return {ExitCode::bug,
            "unknown failure; this is a bug in zygos, please report it with the deck"};
  }
}

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

ExitCode run_command(const Invocation& invocation, Console& console) {
  const auto table = commands();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Command& command) {
    return command.name == invocation.command;
  });
  ZYGOS_REQUIRE(found != table.end(), "the parser accepted an unknown command");
  return found->run(invocation, console);
}

ExitCode print_text(const Parsed& parsed) {
  if (parsed.code == ExitCode::done) {
    fmt::print(stdout, "{}{}", parsed.text, parsed.text.ends_with('\n') ? "" : "\n");
    return parsed.code;
  }
  Console console({.json = parsed.json});
  print_failure(console, {parsed.code, parsed.text});
  return parsed.code;
}

}  // namespace

int run(int argc, const char* const* argv) noexcept {
  try {
    const Parsed parsed = parse_command_line(argc, argv);
    if (!parsed.invocation) {
      return static_cast<int>(print_text(parsed));
    }
    Console console(parsed.invocation->console);
    try {
      return static_cast<int>(run_command(*parsed.invocation, console));
    } catch (...) {
      const Failure failure = current_failure();
      print_failure(console, failure);
      return static_cast<int>(failure.code);
    }
  } catch (...) {
    std::fputs("error: zygos failed before it could say why\n", stderr);
    return static_cast<int>(ExitCode::bug);
  }
}

}  // namespace zygos::app
