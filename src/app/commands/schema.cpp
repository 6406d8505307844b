// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include "zygos/deck/reference.hpp"
#include "zygos/load/deck_file.hpp"

#include <nlohmann/json.hpp>

namespace zygos::app {

ExitCode run_schema(const Invocation& invocation, Console& console) {
  const deck::Schema schema = load::whole_schema();
  const std::string text =
      invocation.markdown ? deck::markdown_reference(schema) : deck::json_schema(schema);
  if (console.wants_json()) {
    console.json(invocation.markdown ? nlohmann::json{{"markdown", text}}
                                     : nlohmann::json::parse(text));
  } else {
    // To the byte, so that the output can be redirected into a file that is compared with it.
    console.print(text.ends_with('\n') ? text : text + "\n");
  }
  return ExitCode::done;
}

}  // namespace zygos::app
