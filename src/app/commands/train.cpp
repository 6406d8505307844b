// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/run/build_run.hpp"
#include "app/run/resume_rules.hpp"
#include "app/run/training_run.hpp"

namespace zygos::app {

ExitCode run_train(const Invocation& invocation, Console& console, const Ranks& ranks) {
  const load::CheckedDeck deck = ranks.together([&] {
    if (invocation.target == "-" && !ranks.alone()) {
      throw UsageError("only one process has the standard input; give the deck as a file");
    }
    return load::load_deck(invocation.target, invocation.overrides);
  });
  const auto open = [&](std::optional<RunFolder>& folder) {
    folder.emplace(folder_of(deck, invocation.run_dir));
    make_room(*folder, invocation.fresh, console);
    return newest_checkpoint(folder->checkpoints(), console);
  };
  return train_deck(deck, invocation, open, Elastic::no, console, ranks);
}

}  // namespace zygos::app
