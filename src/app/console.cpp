// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/console.hpp"

#include "app/standard_streams.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace zygos::app {

namespace {

/// A dumb terminal neither shows colours nor moves its cursor (https://no-color.org for NO_COLOR).
bool is_capable_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return is_terminal(stream) && (term == nullptr || std::string_view(term) != "dumb");
}

bool shows_color(std::FILE* stream, ColorChoice choice) {
  const char* refusal = std::getenv("NO_COLOR");
  return choice == ColorChoice::automatic && (refusal == nullptr || *refusal == '\0') &&
         is_capable_terminal(stream);
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  return 80;
}

std::string_view code_of(Tint tint) {
  switch (tint) {
    case Tint::bold:
      return "\033[1m";
    case Tint::dim:
      return "\033[2m";
    case Tint::red:
      return "\033[1;31m";
    case Tint::yellow:
      return "\033[1;33m";
  }
  return "";
}

}  // namespace

std::size_t columns_of_stdout() {
  return is_terminal(stdout) ? columns_of(stdout) : std::numeric_limits<std::size_t>::max();
}

Console::Console(ConsoleOptions options)
    : options_(options), people_(options.json ? stderr : stdout) {
  people_colored_ = shows_color(people_, options.color);
  errors_colored_ = shows_color(stderr, options.color);
  live_ = options.verbosity >= 0 && !options.silent && is_capable_terminal(people_);
}

Console::~Console() { clear_status(); }

void Console::write(std::FILE* stream, std::string_view text) {
  const int problem = put(stream, text);
  // A reader that has gone away has what it wanted.
  if (stream == stdout && problem != EPIPE && stdout_errno_ == 0) {
    stdout_errno_ = problem;
  }
}

void Console::line(std::FILE* stream, std::string_view text, std::size_t tinted, Tint tint) {
  if (options_.silent) {
    return;
  }
  clear_status();
  const bool colored = (stream == people_ ? people_colored_ : errors_colored_) && tinted > 0;
  if (colored) {
    write(stream, fmt::format("{}{}\033[0m{}\n", code_of(tint), printable(text.substr(0, tinted)),
                              printable(text.substr(tinted))));
  } else {
    write(stream, printable(text) + "\n");
  }
}

void Console::clear_status() {
  if (status_shown_) {
    write(people_, "\r\033[K");
    status_shown_ = false;
  }
}

void Console::say(std::string_view text, std::size_t bold) { line(people_, text, bold); }

void Console::note(std::string_view text, std::size_t bold) {
  if (options_.verbosity >= 0) {
    line(people_, text, bold);
  }
}

void Console::detail(std::string_view text) {
  if (options_.verbosity > 0) {
    line(people_, text, text.size(), Tint::dim);
  }
}

void Console::label(std::string_view word, Tint tint, std::string_view text) {
  line(stderr, fmt::format("{} {}", word, text), word.size(), tint);
}

void Console::warn(std::string_view text) { label("warning:", Tint::yellow, text); }

void Console::error(std::string_view text) { label("error:", Tint::red, text); }

void Console::error_text(std::string_view text) {
  while (!text.empty() && text.back() == '\n') {
    text.remove_suffix(1);
  }
  line(stderr, text);
}

void Console::json(const nlohmann::json& object) {
  ZYGOS_REQUIRE(!json_written_, "a command prints one JSON object");
  json_written_ = true;
  if (options_.silent) {
    return;
  }
  // Names come from decks and files: bytes that are not UTF-8 must not cost the user the answer,
  // and only ASCII surely does not steer a terminal.
  write(stdout, object.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
}

void Console::print(std::string_view text) {
  if (!options_.silent) {
    write(stdout, text);
  }
}

std::optional<std::string> Console::stdout_failure() const {
  return stdout_errno_ == 0 ? std::nullopt
                            : std::optional("cannot write to standard output: " +
                                            std::generic_category().message(stdout_errno_));
}

std::size_t Console::columns() const { return columns_of(people_) - 1; }

void Console::status(const std::string& text) {
  if (live_) {
    write(people_, fmt::format("\r{}\033[K", fitted(printable(text), columns())));
    status_shown_ = true;
  }
}

LogSink Console::sink() {
  return [this](LogLevel level, std::string_view text) {
    switch (level) {
      case LogLevel::debug:
        return detail(text);
      case LogLevel::info:
        return note(text);
      case LogLevel::warning:
        return warn(text);
      case LogLevel::error:
        return error(text);
    }
  };
}

}  // namespace zygos::app
