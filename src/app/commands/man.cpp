// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/shell/command_options.hpp"
#include "app/shell/man_page.hpp"

#include "zygos/deck/reference.hpp"
#include "zygos/load/deck_file.hpp"

#include <nlohmann/json.hpp>

namespace zygos::app {

ExitCode run_man(const Invocation& /*invocation*/, Console& console) {
  const deck::Schema schema = load::whole_schema();
  std::string reference = deck::explain(schema, "");
  for (const deck::Key& key : schema.keys()) {
    reference += "\n" + deck::explain(schema, key.facts().name);
  }
  const std::string page = man_page(described_commands(), reference, exit_codes_text());
  if (console.wants_json()) {
    console.json({{"page", page}});
  } else {
    console.print(page);
  }
  return ExitCode::done;
}

}  // namespace zygos::app
