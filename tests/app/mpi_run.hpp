// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The executable under mpirun, and a deck of four lanes that any number of ranks up to four can
// share.
#pragma once

#include "process.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test {

/// Writes DIRECTORY/tiny.yaml: four serial lanes "a" to "d", or the first two of them; the run's
/// folder is DIRECTORY/runs/tiny. `policy` as in a deck, "{type: gpipe}".
void write_lanes_deck(const std::filesystem::path& directory, const std::string& policy,
                      int lanes = 4);

/// "mpirun -n RANKS zygos WORDS...", as a child process.
class MpiProcess : public Process {
 public:
  MpiProcess(int ranks, const std::vector<std::string>& words,
             const std::filesystem::path& directory);
};
Outcome mpi_run(int ranks, const std::vector<std::string>& words,
                const std::filesystem::path& directory);

/// weights_xxh64 of "zygos train tiny.yaml --json" and further words, which must end with 0; one
/// rank: without mpirun.
std::string trained_weights(int ranks, const std::filesystem::path& directory,
                            const std::vector<std::string>& further = {});

/// How often `part` stands in `text`.
std::size_t count_of(const std::string& part, const std::string& text);

}  // namespace zygos::test
