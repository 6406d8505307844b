// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/load/deck_file.hpp"

namespace zygos::app {

/// Reads the weights that a new run of the deck begins with, where it names a file, into
/// setup.pretrained, and freezes what `freeze: loaded` says. Throws as load::load_pretrained()
/// does.
void load_pretrained_weights(const load::CheckedDeck& checked, RunSetup& setup, Console& console);

/// Freezes the same for what needs no weights, such as a plan.
void freeze_as_loaded(const load::CheckedDeck& checked, RunSetup& setup);

/// Into the facts of checkpoints: a run that goes on does not read the file.
void add_frozen_layers(const RunSetup& setup, io::Facts& facts);
/// Freezes what the run of the checkpoint has frozen as loaded.
void freeze_as_in(const io::Checkpoint& checkpoint, RunSetup& setup);

}  // namespace zygos::app
