// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/resume_rules.hpp"
#include "app/share_checkpoint.hpp"
#include "app/training_run.hpp"

namespace zygos::app {

ExitCode run_train(const Invocation& invocation, Console& console, const Ranks& ranks) {
  const CheckedDeck deck =
      ranks.together([&] { return load_deck(invocation.target, invocation.overrides); });
  RunSetup setup = build_run(deck, build_options(invocation), ranks);
  std::optional<RunFolder> folder;
  std::optional<io::Checkpoint> checkpoint;
  ranks.together([&] {
    if (!ranks.first()) {
      return;
    }
    folder.emplace(folder_of(deck, invocation.run_dir));
    make_room(*folder, invocation.fresh, console);
    checkpoint = newest_checkpoint(folder->checkpoints(), console);
    if (checkpoint) {
      refuse_changed_deck(deck, *checkpoint);
    }
  });
  share_checkpoint(checkpoint, ranks);
  return train_in_folder(setup, folder ? &*folder : nullptr, checkpoint, console, ranks);
}

}  // namespace zygos::app
