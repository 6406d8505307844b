// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// When a run goes on, when it starts anew and when it is refused; docs/cli.md says so to users.
#pragma once

#include "app/console.hpp"
#include "app/run/run_folder.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/load/deck_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace zygos::app {

/// What --run-dir says, else the deck's run_dir, else "runs/<name>".
std::filesystem::path folder_of(const load::CheckedDeck& checked, const std::string& run_dir);
/// Sets a finished run aside, or any run if `fresh`.
void make_room(RunFolder& folder, bool fresh, Console& console);
/// The newest checkpoint that verifies; nothing if there is none. Throws CheckpointError if all are
/// damaged.
std::optional<io::Checkpoint> newest_checkpoint(const std::filesystem::path& checkpoints,
                                                Console& console);
/// The one with the best evaluation. Throws CheckpointError if none has one.
io::Checkpoint best_checkpoint(const std::filesystem::path& checkpoints, Console& console);
/// What a run may change when it goes on, beside what never counts: nothing, or who computes what.
enum class Elastic { no, policy };
/// Throws CheckpointError with the difference if the checkpoint belongs to another deck.
void refuse_changed_deck(const load::CheckedDeck& checked, const io::Checkpoint& checkpoint,
                         Elastic elastic);

/// Whether the change is but that an earlier version wrote a default of `micro_batches` into decks
/// with a policy of this keyword, and that the key is left out now unless it is given.
bool was_written_out(const deck::Difference& change, const std::string& policy);

/// Why a run that goes on from `checkpoint` has no steps left; empty if it has, or if what it ends
/// with was not written.
std::string nothing_left(const RunFolder& folder, const io::Checkpoint& checkpoint,
                         std::int64_t total_steps);

}  // namespace zygos::app
