// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include "zygos/deck/reference.hpp"
#include "zygos/load/deck_file.hpp"

#include <nlohmann/json.hpp>

namespace zygos::app {

ExitCode run_explain(const Invocation& invocation, Console& console) {
  std::string key = invocation.target;
  for (const std::string& word : invocation.words) {
    key += " " + word;
  }
  std::string text = deck::explain(load::whole_schema(), key);
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  console.say(text);
  if (console.wants_json()) {
    console.json({{"key", key}, {"text", text}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
