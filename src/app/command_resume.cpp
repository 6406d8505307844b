// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/resume_rules.hpp"
#include "app/training_run.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace zygos::app {

ExitCode run_resume(const Invocation& invocation, Console& console) {
  const std::filesystem::path path = invocation.target;
  if (!std::filesystem::is_regular_file(path / "deck.yaml")) {
    throw UsageError(fmt::format(
        "{} is not the folder of a run: it has no deck.yaml. Start one with zygos train DECK",
        path.string()));
  }
  const CheckedDeck deck = load_deck((path / "deck.yaml").string(), invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  RunFolder folder(path);
  const auto checkpoint = newest_checkpoint(folder.checkpoints(), console);
  if (!checkpoint) {
    throw CheckpointError(
        fmt::format("{} holds no checkpoint to continue from", folder.checkpoints().string()));
  }
  refuse_changed_deck(deck, *checkpoint);
  return train_in_folder(setup, folder, checkpoint, invocation.fresh_profile, console);
}

}  // namespace zygos::app
