// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles are measured once per machine, model and lanes: the second start is quick.
#pragma once

#include "app/console.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/measure/profiler.hpp"

#include <filesystem>
#include <optional>

namespace zygos::app {

/// Where the profile of this run is kept, below $XDG_CACHE_HOME/zygos/profiles, or ~/.cache/...;
/// nothing if neither is known.
std::optional<std::filesystem::path> profile_file(const RunSetup& setup);

/// The kept profile, if there is one and it fits this machine; a note says why it does not.
std::optional<plan::Profile> kept_profile(const RunSetup& setup, Console& console);

/// The kept profile; else, or if `fresh`, one that is measured now (some seconds) and kept.
plan::Profile profile_of(RunSetup& setup, bool fresh, Console& console);

/// A request to the profiler with a batch of the training set; borrows from `setup`.
measure::ProfileRequest profile_request(RunSetup& setup, const LogSink& log);

}  // namespace zygos::app
