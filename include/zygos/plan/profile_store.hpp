// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles as files, to be measured once and used again, on the same machine for the same model.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/profile.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace zygos::plan {

/// Name and value of everything that a profile's numbers depend on, in a fixed order.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Processor, cores this process may use, order of memory size, instruction sets, build type,
/// Kokkos spaces, device.
Facts machine_fingerprint();

/// The machine, then the lanes (kinds, threads, links, slow-downs), the model (a hash of its text),
/// the optimizer and the precision, which `tf32` is another of (see train::EngineOptions::tf32).
Facts identity_of(const graph::Graph& graph, const std::string& optimizer,
                  const lane::LaneSet& lanes, DType dtype, bool tf32 = false);

/// Replaces the file as a whole. `date` is for people ("2026-03-31T12:00:00Z").
void save_profile(const std::filesystem::path& file, const Profile& profile, const Facts& identity,
                  const std::string& date);

/// Throws UsageError that names the first fact in which the file's identity differs from the
/// wanted one, with both values, or the format version; DataError for a file that is no profile;
/// IoError for one that can't be read.
Profile load_profile(const std::filesystem::path& file, const Facts& identity);

/// What save_profile() writes, and its reverse.
std::string profile_text(const Profile& profile, const Facts& identity, const std::string& date);
Profile profile_from(const std::string& text, const Facts& identity, const std::string& origin);

}  // namespace zygos::plan
