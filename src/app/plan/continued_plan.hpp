// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Going on with other lanes or another policy than a checkpoint was written with. A checkpoint
// holds the whole model, so any schedule can take it up; what must not change is what a step
// learns.
#pragma once

#include "app/console.hpp"
#include "app/plan/run_plan.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/load/deck_file.hpp"

namespace zygos::app {

/// The plan of the checkpoint where deck and lanes are those it was written with, or its decisions
/// fit the lanes; else a new one. Throws CheckpointError where the policy it was written with or
/// the one to go on with is asynchronous, and so what a step learns would change.
RunPlan continued_plan(RunSetup& setup, const load::CheckedDeck& deck,
                       const io::Checkpoint& checkpoint, bool fresh_profile, Console& console);

}  // namespace zygos::app
