// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/starters/starters.hpp"

#include "zygos/io/atomic_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

fs::path deck_file(const std::string& name) {
  const fs::path path = name;
  if (path.extension() == ".yaml" || path.extension() == ".yml") {
    return path;
  }
  return path.string() + ".yaml";
}

}  // namespace

ExitCode run_init(const Invocation& invocation, Console& console) {
  const fs::path file = deck_file(invocation.target);
  if (fs::exists(fs::symlink_status(file))) {
    throw UsageError(fmt::format("{} is there already and is not overwritten; choose another name",
                                 file.string()));
  }
  io::write_file_atomically(file, starter_deck(invocation.kind, file));
  console.say(fmt::format("wrote {}; train it with: zygos train {}", file.string(), file.string()));
  if (console.wants_json()) {
    console.json({{"deck", file.string()}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
