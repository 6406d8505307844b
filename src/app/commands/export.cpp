// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/text.hpp"
#include "app/trained/saved_model.hpp"

#include "zygos/load/exchange.hpp"
#include "zygos/memory/bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace zygos::app {

ExitCode run_export(const Invocation& invocation, Console& console) {
  const load::SavedModel saved = saved_model(invocation, console);
  load::export_model(saved, invocation.output);
  const auto bytes = std::filesystem::file_size(invocation.output);
  console.say(fmt::format("{}: {} parameters of {}, step {} ({})", invocation.output,
                          text_of_count(saved.graph.parameter_count()),
                          saved.checkpoint.path.string(), text_of_count(saved.checkpoint.step),
                          memory::text_of_bytes(bytes)));
  if (console.wants_json()) {
    console.json({{"checkpoint", saved.checkpoint.path.string()},
                  {"step", saved.checkpoint.step},
                  {"output", invocation.output},
                  {"parameters", saved.graph.parameter_count()},
                  {"bytes", bytes}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
