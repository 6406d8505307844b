// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/shell/command_facts.hpp"

#include "app/commands/commands.hpp"
#include "deck/read/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames()) {
    facts.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    facts.names.push_back("--" + name);
  }
  if (facts.names.empty()) {
    facts.names.push_back(option.get_name());
  }
  facts.value = option.get_items_expected_max() > 0 ? option.get_type_name() : "";
  facts.help = option.get_description();
  return facts;
}

}  // namespace

std::vector<std::string> OptionFacts::choices() const {
  std::vector<std::string> words;
  if (value.find('|') == std::string::npos) {
    return words;
  }
  for (const std::string_view word : deck::split(value, '|')) {
    words.emplace_back(word);
  }
  return words;
}

std::vector<CommandFacts> command_facts(const CLI::App& app) {
  std::vector<CommandFacts> all;
  for (const Command& command : commands()) {
    CommandFacts facts{command.name, command.summary, command.example, {}};
    for (const CLI::Option* option : app.get_subcommand(command.name)->get_options()) {
      facts.options.push_back(facts_of(*option));
    }
    all.push_back(std::move(facts));
  }
  return all;
}

std::string unknown_command_text(std::string_view word, const std::vector<CommandFacts>& commands) {
  std::vector<std::string> names{"help", "version"};
  for (const CommandFacts& command : commands) {
    names.push_back(command.name);
  }
  const auto near = deck::nearest(word, names);
  return fmt::format("there is no command {}{} (try zygos --help)", deck::in_quotes(word),
                     near ? "; did you mean '" + *near + "'?" : "");
}

std::string unknown_option_text(std::string_view word, const CommandFacts& command) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options) {
    std::copy_if(option.names.begin(), option.names.end(), std::back_inserter(names),
                 [](const std::string& name) { return name.starts_with("--"); });
  }
  const auto near = deck::nearest(word.substr(0, word.find('=')), names);
  return fmt::format("zygos {} has no option {}{} (try zygos {} --help)", command.name,
                     deck::in_quotes(word), near ? "; did you mean '" + *near + "'?" : "",
                     command.name);
}

}  // namespace zygos::app
