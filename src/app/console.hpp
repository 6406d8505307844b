// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where words go. Results for people are written to stdout, or to stderr when --json reserves
// stdout for one JSON object; warnings and errors always go to stderr. Whatever a text contains,
// nothing in it steers the terminal (core/printable.hpp).
#pragma once

#include "zygos/core/log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdio>
#include <optional>
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

enum class Tint { bold, dim, red, yellow };

/// Of the terminal that stdout is; no limit where it is none.
std::size_t columns_of_stdout();

class Console {
 public:
  explicit Console(ConsoleOptions options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// One line of the result; shown even with -q. On a terminal its first `bold` bytes are bold.
  void say(std::string_view line, std::size_t bold = 0);
  /// One line about what happens; hidden by -q.
  void note(std::string_view line, std::size_t bold = 0);
  /// Shown with -v only.
  void detail(std::string_view line);
  void warn(std::string_view line);
  void error(std::string_view line);
  /// Text that carries its own layout (a deck's findings), to stderr.
  void error_text(std::string_view text);
  /// To stdout, to the byte: output that is redirected into a file.
  void print(std::string_view text);
  /// Prints the one JSON object of --json; throws InternalError on a second one.
  void json(const nlohmann::json& object);
  bool wants_json() const noexcept { return options_.json; }
  bool json_written() const noexcept { return json_written_; }
  /// Why stdout did not take all that was written to it; nothing if it did.
  std::optional<std::string> stdout_failure() const;
  /// A silent console is heard from now on.
  void speak_up() noexcept { options_.silent = false; }

  /// Redraws the line at the bottom of a terminal; does nothing where there is none.
  void status(const std::string& line);
  /// True if status() draws: the people's stream is a terminal and -q is off.
  bool live() const noexcept { return live_; }
  /// Characters a line of status() can have.
  std::size_t columns() const;

  /// What the library writes its lines to.
  LogSink sink();

 private:
  /// The first `tinted` bytes in a colour, if the stream shows colours.
  void line(std::FILE* stream, std::string_view text, std::size_t tinted = 0,
            Tint tint = Tint::bold);
  void write(std::FILE* stream, std::string_view text);
  void clear_status();
  void label(std::string_view word, Tint tint, std::string_view text);

  ConsoleOptions options_;
  std::FILE* people_;
  bool people_colored_ = false;
  bool errors_colored_ = false;
  bool live_ = false;
  bool status_shown_ = false;
  bool json_written_ = false;
  int stdout_errno_ = 0;
};

}  // namespace zygos::app
