// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/shell/completion.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

namespace zygos::app {

namespace {

/// In single quotes, as all three shells read them; fish takes the same for texts without
/// backslashes.
std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::vector<std::string> option_names(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options) {
    if (!option.positional()) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

/// Words that may stand in a command's positional places.
std::vector<std::string> positional_words(const CommandFacts& command) {
  std::vector<std::string> words;
  for (const OptionFacts& option : command.options) {
    const auto some = option.positional() ? option.choices() : std::vector<std::string>();
    words.insert(words.end(), some.begin(), some.end());
  }
  return words;
}

std::string bash_case(const CommandFacts& command) {
  std::string values;
  for (const OptionFacts& option : command.options) {
    if (!option.positional() && !option.choices().empty()) {
      values += fmt::format("        {}) COMPREPLY=($(compgen -W {} -- \"$word\")); return ;;\n",
                            fmt::join(option.names, "|"), single_quoted(joined(option.choices())));
    }
  }
  const std::string before =
      values.empty() ? "" : fmt::format("      case $before in\n{}      esac\n", values);
  return fmt::format("    {})\n{}      options={}\n      words={} ;;\n", command.name, before,
                     single_quoted(joined(option_names(command))),
                     single_quoted(joined(positional_words(command))));
}

std::string bash_script(const std::vector<CommandFacts>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandFacts& command : commands) {
    names.push_back(command.name);
    cases += bash_case(command);
  }
  return fmt::format(R"script(# Completion of zygos for bash: eval "$(zygos completion bash)"
_zygos() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options= words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _zygos zygos
)script",
                     single_quoted(joined(names) + " help version --help --version"), cases);
}

/// Text inside "name[text]" of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string zsh_case(const CommandFacts& command) {
  std::string lines;
  std::vector<std::string> words = positional_words(command);
  for (const OptionFacts& option : command.options) {
    if (option.positional()) {
      continue;
    }
    const auto choices = option.choices();
    const std::string value =
        option.value.empty() ? ""
        : choices.empty()    ? ":" + zsh_text(option.value) + ":_files"
                             : ":" + zsh_text(option.names.back()) + ":(" + joined(choices) + ")";
    for (const std::string& name : option.names) {
      lines += " \\\n        " + single_quoted(name + "[" + zsh_text(option.help) + "]" + value);
    }
  }
  const std::string rest =
      words.empty() ? "'*:file:_files'" : single_quoted("*:word:(" + joined(words) + ")");
  return fmt::format("      {})\n        _arguments{} \\\n        {} ;;\n", command.name, lines,
                     rest);
}

std::string zsh_script(const std::vector<CommandFacts>& commands) {
  std::string names;
  std::string cases;
  for (const CommandFacts& command : commands) {
    names += " \\\n      " + single_quoted(command.name + ":" + zsh_text(command.summary));
    cases += zsh_case(command);
  }
  return fmt::format(R"script(#compdef zygos
# Completion of zygos for zsh: eval "$(zygos completion zsh)"
_zygos() {{
  if (( CURRENT == 2 )); then
    local -a commands=({})
    _describe command commands
  else
    local name=${{words[2]}}
    shift words
    (( CURRENT-- ))
    case $name in
{}    esac
  fi
}}
compdef _zygos zygos
)script",
                     names, cases);
}

std::string fish_script(const std::vector<CommandFacts>& commands) {
  std::string text = "# Completion of zygos for fish: zygos completion fish | source\n";
  for (const CommandFacts& command : commands) {
    text += fmt::format("complete -c zygos -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        single_quoted(command.summary));
    const std::string when = single_quoted("__fish_seen_subcommand_from " + command.name);
    for (const OptionFacts& option : command.options) {
      const auto choices = option.choices();
      if (option.positional()) {
        text += choices.empty() ? ""
                                : fmt::format("complete -c zygos -n {} -f -a {}\n", when,
                                              single_quoted(joined(choices)));
        continue;
      }
      std::string names;
      for (const std::string& name : option.names) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const std::string value = option.value.empty() ? ""
                                : choices.empty()    ? " -r"
                                                     : " -x -a " + single_quoted(joined(choices));
      text += fmt::format("complete -c zygos -n {}{}{} -d {}\n", when, names, value,
                          single_quoted(option.help));
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell, const std::vector<CommandFacts>& commands) {
  if (shell == "bash") {
    return bash_script(commands);
  }
  if (shell == "zsh") {
    return zsh_script(commands);
  }
  ZYGOS_REQUIRE(shell == "fish", "the parser accepted an unknown shell");
  return fish_script(commands);
}

}  // namespace zygos::app
