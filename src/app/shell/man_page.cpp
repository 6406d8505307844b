// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/shell/man_page.hpp"

#include "zygos/core/version.hpp"

#include <fmt/format.h>

namespace zygos::app {

namespace {

/// Text as troff prints it: no escapes, no requests at the beginning of a line, dashes that can be
/// copied.
std::string troff(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) {
      result += "\\&";
    }
    result += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    line_begins = c == '\n';
  }
  return result;
}

std::string as_it_stands(std::string_view text) {
  return ".nf\n" + troff(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string option_text(const OptionFacts& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
  }
  const bool told = !option.value.empty() && !option.positional();
  return fmt::format(".TP\n{}{}\n{}\n", names, told ? " \\fI" + troff(option.value) + "\\fR" : "",
                     troff(option.help));
}

std::string command_text(const CommandFacts& command) {
  std::string text =
      fmt::format(".SS {}\n{}.\n", troff("zygos " + command.name), troff(command.summary));
  for (const OptionFacts& option : command.options) {
    text += option_text(option);
  }
  return text + ".PP\nExample:\n" + as_it_stands("  " + command.example);
}

}  // namespace

std::string man_page(const std::vector<CommandFacts>& commands, std::string_view deck_reference,
                     std::string_view exit_codes) {
  std::string text = fmt::format(
      ".TH ZYGOS 1 \"\" \"zygos {}\" \"User Commands\"\n"
      ".SH NAME\nzygos \\- trains neural networks on the host and the device at once\n"
      ".SH SYNOPSIS\n\\fBzygos\\fR \\fICOMMAND\\fR [\\fITARGET\\fR] [\\fIkey.path=value\\fR ...] "
      "[\\fIoptions\\fR]\n.SH COMMANDS\n",
      version());
  for (const CommandFacts& command : commands) {
    text += command_text(command);
  }
  text +=
      ".SH DECKS\nA deck is a YAML file. \\fBzygos explain\\fR \\fIKEY\\fR tells more of a key.\n";
  text += as_it_stands(deck_reference);
  return text + ".SH EXIT STATUS\n" + as_it_stands(exit_codes);
}

}  // namespace zygos::app
