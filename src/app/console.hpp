// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where words go. Results for people are written to stdout, or to stderr when --json reserves
// stdout for one JSON object; warnings and errors always go to stderr.
#pragma once

#include "zygos/core/log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace zygos::app {

enum class ColorChoice { automatic, never };

struct ConsoleOptions {
  bool json = false;
  ColorChoice color = ColorChoice::automatic;
  int verbosity = 0;    ///< -1: -q, 0: normal, 1: -v
  bool silent = false;  ///< of a process that another one speaks for
};

enum class Tint { plain, bold, dim, red, yellow, green };

class Console {
 public:
  explicit Console(ConsoleOptions options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// One line of the result; shown even with -q.
  void say(std::string_view line);
  /// One line about what happens; hidden by -q.
  void note(std::string_view line);
  /// Shown with -v only.
  void detail(std::string_view line);
  void warn(std::string_view line);
  void error(std::string_view line);
  /// Text that carries its own layout (a deck's findings), to stderr.
  void error_text(std::string_view text);
  /// Prints the one JSON object of --json; throws InternalError on a second one.
  void json(const nlohmann::json& object);
  bool wants_json() const noexcept { return options_.json; }
  bool json_written() const noexcept { return json_written_; }
  /// A silent console is heard from now on.
  void speak_up() noexcept { options_.silent = false; }

  /// Redraws the line at the bottom of a terminal; does nothing where there is none.
  void status(const std::string& line);
  /// True if status() draws: the people's stream is a terminal and -q is off.
  bool live() const noexcept { return live_; }
  /// Characters a line of status() can have.
  std::size_t columns() const;

  /// The text in a colour if the stream of results shows colours.
  std::string tinted(Tint tint, std::string_view text) const;
  /// What the library writes its lines to.
  LogSink sink();

 private:
  void line(std::FILE* stream, std::string_view text);
  void clear_status();
  void label(std::string_view word, Tint tint, std::string_view text);

  ConsoleOptions options_;
  std::FILE* people_;
  bool people_colored_ = false;
  bool errors_colored_ = false;
  bool live_ = false;
  bool status_shown_ = false;
  bool json_written_ = false;
};

}  // namespace zygos::app
