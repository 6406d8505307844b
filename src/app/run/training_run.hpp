// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/command_line.hpp"
#include "app/console.hpp"
#include "app/run/ranks.hpp"
#include "app/run/resume_rules.hpp"
#include "app/run/run_folder.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/load/deck_file.hpp"

#include <functional>
#include <optional>

namespace zygos::app {

/// Opens the folder of a run and finds the checkpoint to go on from, if there is one.
using OpenFolder = std::function<std::optional<io::Checkpoint>(std::optional<RunFolder>& folder)>;

/// Trains to the end or to a stop on request, from the start or from a checkpoint, and leaves deck,
/// metrics, checkpoints, trace and summary in the folder. What `train` and `resume` share.
/// Collective; only the first rank opens the folder. `elastic`: what may differ from a checkpoint.
ExitCode train_deck(const load::CheckedDeck& deck, const Invocation& invocation,
                    const OpenFolder& open, Elastic elastic, Console& console, const Ranks& ranks);

}  // namespace zygos::app
