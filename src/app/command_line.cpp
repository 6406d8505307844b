// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/command_line.hpp"

#include "app/commands/commands.hpp"
#include "app/shell/command_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace zygos::app {

namespace {

/// Kokkos reads its own options; ours are strict about everything else.
std::vector<std::string> without_kokkos(int argc, const char* const* argv, Invocation& to) {
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool for_kokkos = argument.rfind("--kokkos-", 0) == 0;
    (for_kokkos ? to.kokkos_arguments : rest).push_back(argument);
  }
  // CLI11 takes its arguments in reverse.
  std::reverse(rest.begin(), rest.end());
  return rest;
}

Parsed help_on(const CLI::App& app, const std::string& name) {
  const auto facts = command_facts(app);
  const bool known =
      std::ranges::any_of(facts, [&](const CommandFacts& command) { return command.name == name; });
  return known ? Parsed{std::nullopt, app.get_subcommand(name)->help("zygos")}
               : Parsed{std::nullopt, unknown_command_text(name, facts), ExitCode::usage};
}

/// What is answered from the first word alone: `zygos`, `zygos help train`, `zygos version`, a
/// word that is no command. `words` as they were typed.
std::optional<Parsed> parsed_by_first_word(const CLI::App& app,
                                           const std::vector<std::string>& words) {
  const auto first =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (first == words.end()) {
    const bool bare = std::ranges::all_of(words, [](const auto& word) { return word == "--json"; });
    return bare ? std::optional(Parsed{std::nullopt, app.help(), ExitCode::usage, true})
                : std::nullopt;
  }
  const auto subject = std::find_if(first + 1, words.end(),
                                    [](const std::string& word) { return !word.starts_with('-'); });
  if (*first == "help") {
    return subject == words.end() ? Parsed{std::nullopt, app.help()} : help_on(app, *subject);
  }
  if (*first == "version") {
    return Parsed{std::nullopt, version_line()};
  }
  const auto facts = command_facts(app);
  if (first == words.begin() && std::ranges::none_of(facts, [&](const CommandFacts& command) {
        return command.name == *first;
      })) {
    return Parsed{std::nullopt, unknown_command_text(*first, facts), ExitCode::usage};
  }
  return std::nullopt;
}

/// The first of `words` that looks like an option, and is none of the command's.
std::optional<std::string> unknown_option(const CommandFacts& command,
                                          const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    const bool known = std::ranges::any_of(command.options, [&](const OptionFacts& option) {
      return std::ranges::find(option.names, name) != option.names.end();
    });
    if (word.starts_with("--") && !known) {
      return word;
    }
  }
  return std::nullopt;
}

Parsed refused(const CLI::App& app, const CLI::ParseError& problem,
               const std::vector<std::string>& words) {
  const auto chosen = app.get_subcommands();
  for (const CommandFacts& command : command_facts(app)) {
    const bool is_chosen = !chosen.empty() && chosen.front()->get_name() == command.name;
    if (const auto option = is_chosen ? unknown_option(command, words) : std::nullopt) {
      return {std::nullopt, unknown_option_text(*option, command), ExitCode::usage};
    }
  }
  std::string where = "zygos";
  for (const CLI::App* sub : app.get_subcommands()) {
    where += " " + sub->get_name();
  }
  return {std::nullopt, fmt::format("{} (try {} --help)", problem.what(), where), ExitCode::usage};
}

}  // namespace

std::vector<CommandFacts> described_commands() {
  Invocation unused;
  CLI::App app;
  describe_commands(app, unused);
  return command_facts(app);
}

bool is_override(const std::string& word) {
  const auto equals = word.find('=');
  return equals != std::string::npos && equals > 0;
}

Parsed parse_command_line(int argc, const char* const* argv) {
  Invocation invocation;
  CLI::App app("Zygos trains neural networks on the host and the device at once.");
  describe_commands(app, invocation);
  auto arguments = without_kokkos(argc, argv, invocation);
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  const std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  Parsed result;
  if (auto answer = parsed_by_first_word(app, words)) {
    answer->json = json;
    return *answer;
  }
  try {
    app.parse(arguments);
    result.invocation = invocation;
  } catch (const CLI::CallForVersion& asked) {
    result.text = asked.what();
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    result.text = chosen.empty() ? app.help() : chosen.front()->help("zygos");
  } catch (const CLI::ParseError& problem) {
    result = refused(app, problem, words);
  }
  result.json = json;
  return result;
}

}  // namespace zygos::app
