// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/console.hpp"

#include "app/standard_streams.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

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
    case Tint::green:
      return "\033[1;32m";
    case Tint::plain:
      break;
  }
  return "";
}

std::string with_tint(bool colored, Tint tint, std::string_view text) {
  if (!colored || tint == Tint::plain) {
    return std::string(text);
  }
  return fmt::format("{}{}\033[0m", code_of(tint), text);
}

}  // namespace

Console::Console(ConsoleOptions options)
    : options_(options), people_(options.json ? stderr : stdout) {
  people_colored_ = shows_color(people_, options.color);
  errors_colored_ = shows_color(stderr, options.color);
  live_ = options.verbosity >= 0 && !options.silent && is_capable_terminal(people_);
}

Console::~Console() { clear_status(); }

void Console::line(std::FILE* stream, std::string_view text) {
  if (options_.silent) {
    return;
  }
  clear_status();
  put(stream, fmt::format("{}\n", text));
}

void Console::clear_status() {
  if (status_shown_) {
    put(people_, "\r\033[K");
    status_shown_ = false;
  }
}

void Console::say(std::string_view text) { line(people_, text); }

void Console::note(std::string_view text) {
  if (options_.verbosity >= 0) {
    line(people_, text);
  }
}

void Console::detail(std::string_view text) {
  if (options_.verbosity > 0) {
    line(people_, with_tint(people_colored_, Tint::dim, text));
  }
}

void Console::label(std::string_view word, Tint tint, std::string_view text) {
  line(stderr, fmt::format("{} {}", with_tint(errors_colored_, tint, word), text));
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
  // Names come from decks and files; bytes that are not UTF-8 must not cost the user the answer.
  const auto text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  put(stdout, text + "\n");
}

std::size_t Console::columns() const { return columns_of(people_) - 1; }

void Console::status(const std::string& text) {
  if (live_) {
    put(people_, fmt::format("\r{}\033[K", fitted(text, columns())));
    status_shown_ = true;
  }
}

std::string Console::tinted(Tint tint, std::string_view text) const {
  return with_tint(people_colored_, tint, text);
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
