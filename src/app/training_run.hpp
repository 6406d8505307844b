// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"
#include "app/ranks.hpp"
#include "app/run_folder.hpp"
#include "app/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"

#include <optional>

namespace zygos::app {

/// Trains to the end or to a stop on request, from the start or from a checkpoint, and leaves deck,
/// metrics, checkpoints, trace and summary in the folder. What `train` and `resume` share.
/// Collective; `folder` is null on all ranks but the first, `checkpoint` the same on all.
ExitCode train_in_folder(RunSetup& setup, const RunFolder* folder,
                         const std::optional<io::Checkpoint>& checkpoint, Console& console,
                         const Ranks& ranks);

/// XXH64 over inputs and targets: whether a resumed run still sees the samples it began with.
std::string hash_of(const io::Dataset& data);

}  // namespace zygos::app
