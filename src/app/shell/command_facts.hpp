// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line as plain values, read from the parser itself: what completions, the manual page
// and suggestions are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace zygos::app {

struct OptionFacts {
  std::vector<std::string> names;  ///< "-q", "--quiet"; one name without dashes: positional
  std::string value;               ///< "FILE", "auto|never"; empty: a switch
  std::string help;

  bool positional() const { return !names.front().starts_with('-'); }
  /// The words that may be given; empty where they are not a few.
  std::vector<std::string> choices() const;
};

struct CommandFacts {
  std::string name;
  std::string summary;
  std::string example;
  std::vector<OptionFacts> options;
};

/// Of every command, in the order of the help.
std::vector<CommandFacts> command_facts(const CLI::App& app);

/// The sentence about a word that is none of the commands, or none of a command's options, with the
/// nearest one if there is one.
std::string unknown_command_text(std::string_view word, const std::vector<CommandFacts>& commands);
std::string unknown_option_text(std::string_view word, const CommandFacts& command);

}  // namespace zygos::app
