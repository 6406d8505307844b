// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/command_line.hpp"
#include "app/console.hpp"

#include "zygos/load/saved_model.hpp"

namespace zygos::app {

/// The trained model that a command is about: of a run's folder, a checkpoint, an exported file, or
/// the run of a deck. Overrides of a deck's target are those of the deck; a checkpoint keeps its
/// own otherwise. Throws CheckpointError where nothing was trained.
load::SavedModel saved_model(const Invocation& invocation, Console& console);

}  // namespace zygos::app
