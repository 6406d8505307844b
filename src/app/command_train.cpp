// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/build_run.hpp"
#include "app/commands.hpp"
#include "app/resume_rules.hpp"
#include "app/training_run.hpp"

namespace zygos::app {

ExitCode run_train(const Invocation& invocation, Console& console) {
  const CheckedDeck deck = load_deck(invocation.target, invocation.overrides);
  RunSetup setup = build_run(deck, build_options(invocation));
  RunFolder folder(folder_of(deck, invocation.run_dir));
  make_room(folder, invocation.fresh, console);
  const auto checkpoint = newest_checkpoint(folder.checkpoints(), console);
  if (checkpoint) {
    refuse_changed_deck(deck, *checkpoint);
  }
  return train_in_folder(setup, folder, checkpoint, invocation.fresh_profile, console);
}

}  // namespace zygos::app
