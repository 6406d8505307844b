// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/shell/completion.hpp"

#include "app/commands/commands.hpp"

#include <nlohmann/json.hpp>

namespace zygos::app {

ExitCode run_completion(const Invocation& invocation, Console& console) {
  const std::string script = completion_script(invocation.target, described_commands());
  if (console.wants_json()) {
    console.json({{"shell", invocation.target}, {"script", script}});
  } else {
    console.print(script);
  }
  return ExitCode::done;
}

}  // namespace zygos::app
