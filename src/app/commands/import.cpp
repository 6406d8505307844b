// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/text.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/load/deck_file.hpp"
#include "zygos/load/exchange.hpp"
#include "zygos/load/graph.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

fs::path deck_file(const Invocation& invocation) {
  const fs::path name = fs::path(invocation.target).stem().string() + ".yaml";
  const fs::path output = invocation.output;
  if (output.empty()) {
    return name;
  }
  if (output.extension() == ".yaml" || output.extension() == ".yml") {
    return output;
  }
  if (fs::is_directory(output)) {
    return output / name;
  }
  throw UsageError(fmt::format(
      "--output {} is neither a deck (.yaml) nor a directory that is there", output.string()));
}

/// As the deck names it: paths in decks begin at their folder.
std::string path_from(const fs::path& deck, const fs::path& file) {
  const fs::path folder = fs::absolute(deck).parent_path();
  return fs::absolute(file)
      .lexically_normal()
      .lexically_proximate(folder.lexically_normal())
      .string();
}

}  // namespace

ExitCode run_import(const Invocation& invocation, Console& console) {
  const fs::path file = deck_file(invocation);
  if (fs::exists(fs::symlink_status(file))) {
    throw UsageError(fmt::format("{} is there already and is not overwritten; choose another name",
                                 file.string()));
  }
  const load::ForeignModel model =
      load::import_onnx(invocation.target, path_from(file, invocation.target));
  const load::CheckedDeck deck = load::parse_deck(model.deck, file, {});
  const graph::Graph graph = load::build_model(deck.spec, model.sample, {}, deck.deck.findings());
  io::write_file_atomically(file, model.deck);
  for (const std::string& note : model.notes) {
    console.note(note);
  }
  console.say(fmt::format("{}: {} layers, {} parameters of {}; its data are yours to name",
                          file.string(), text_of_count(std::ssize(graph.nodes())),
                          text_of_count(graph.parameter_count()), invocation.target));
  if (console.wants_json()) {
    console.json({{"deck", file.string()},
                  {"layers", graph.nodes().size()},
                  {"parameters", graph.parameter_count()},
                  {"notes", model.notes}});
  }
  return ExitCode::done;
}

}  // namespace zygos::app
