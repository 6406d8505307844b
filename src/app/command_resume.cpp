// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/resume_rules.hpp"
#include "app/share_checkpoint.hpp"
#include "app/training_run.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace zygos::app {

namespace {

CheckedDeck deck_in(const std::filesystem::path& folder, const Invocation& invocation) {
  if (!std::filesystem::is_regular_file(folder / "deck.yaml")) {
    throw UsageError(fmt::format(
        "{} is not the folder of a run: it has no deck.yaml. Start one with zygos train DECK",
        folder.string()));
  }
  return load_deck((folder / "deck.yaml").string(), invocation.overrides);
}

}  // namespace

ExitCode run_resume(const Invocation& invocation, Console& console, const Ranks& ranks) {
  const std::filesystem::path path = invocation.target;
  const CheckedDeck deck = ranks.together([&] { return deck_in(path, invocation); });
  RunSetup setup = build_run(deck, build_options(invocation), ranks);
  std::optional<RunFolder> folder;
  std::optional<io::Checkpoint> checkpoint;
  ranks.together([&] {
    if (!ranks.first()) {
      return;
    }
    folder.emplace(path);
    checkpoint = newest_checkpoint(folder->checkpoints(), console);
    if (!checkpoint) {
      throw CheckpointError(
          fmt::format("{} holds no checkpoint to continue from", folder->checkpoints().string()));
    }
    refuse_changed_deck(deck, *checkpoint);
  });
  share_checkpoint(checkpoint, ranks);
  return train_in_folder(setup, folder ? &*folder : nullptr, checkpoint, console, ranks);
}

}  // namespace zygos::app
