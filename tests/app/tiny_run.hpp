// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A deck that trains in a fraction of a second on glyphs, split over two lanes, and what the tests
// of the executable ask of it again and again.
#pragma once

#include "process.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test {

/// Written as DIRECTORY/tiny.yaml; the run's folder is DIRECTORY/runs/tiny.
void write_tiny_deck(const std::filesystem::path& directory);

/// Puts the profile of the tiny deck's lanes into the cache of DIRECTORY, so that what runs there
/// need not measure its own, which takes longer than most of such runs. It is measured once in this
/// process, and fits whatever changes none of model, optimizer, lanes, batch and strictness.
void keep_tiny_profile(const std::filesystem::path& directory);

/// "zygos train tiny.yaml --json" and further words.
std::vector<std::string> train_words(const std::vector<std::string>& further = {});

/// The same without measuring lanes, which takes longer than such runs.
std::vector<std::string> unmeasured_words(const std::vector<std::string>& further = {});

/// Runs zygos with these words, --json among them, in DIRECTORY, requires exit code 0 and returns
/// the JSON object.
nlohmann::json json_of(const std::vector<std::string>& words,
                       const std::filesystem::path& directory);

/// Trains to the end, requires exit code 0 and returns the JSON object.
nlohmann::json train_to_the_end(const std::filesystem::path& directory,
                                const std::vector<std::string>& further = {});

/// The same without measuring lanes.
nlohmann::json train_unmeasured(const std::filesystem::path& directory,
                                const std::vector<std::string>& further = {});

/// summary.json of the run in DIRECTORY.
nlohmann::json summary_in(const std::filesystem::path& directory);

/// Number of checkpoints the run in DIRECTORY has now.
std::size_t checkpoints_in(const std::filesystem::path& directory);
/// Waits until there are at least `count`, at most some seconds; false if there never are.
bool wait_for_checkpoints(const std::filesystem::path& directory, std::size_t count);
/// Path of the newest checkpoint.
std::filesystem::path newest_checkpoint_in(const std::filesystem::path& directory);

}  // namespace zygos::test
