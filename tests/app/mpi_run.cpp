// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "mpi_run.hpp"

#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sstream>

namespace zygos::test {

namespace {

constexpr const char* head = R"(deck_version: 1
seed: 5
data: {format: glyphs, samples: 480, test_samples: 160}
model:
  layers:
    - {name: fc1, type: dense, units: 24, activation: relu}
    - {name: fc2, type: dense, units: 20, activation: tanh}
    - {name: fc3, type: dense, units: 16, activation: relu}
    - {name: out, type: dense, units: 10}
  loss: cross_entropy
optimizer: {type: adam, learning_rate: 0.01}
train: {batch: 32, epochs: 2, report_every: 10 steps}
lanes:
)";

/// What mpirun is called with, before the number of ranks.
std::vector<std::string> launcher_words() {
  std::istringstream all(ZYGOS_MPIRUN_FLAGS);
  std::vector<std::string> words;
  for (std::string word; all >> word;) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> launched(int ranks, const std::vector<std::string>& words,
                                  const std::vector<std::string>& launcher) {
  std::vector<std::string> all = launcher_words();
  all.insert(all.end(), launcher.begin(), launcher.end());
  all.insert(all.end(), {"-n", std::to_string(ranks), executable()});
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace

void write_lanes_deck(const std::filesystem::path& directory, const std::string& policy,
                      int lanes) {
  std::string deck = head;
  for (int lane = 0; lane < lanes; ++lane) {
    deck += std::string("  ") + static_cast<char>('a' + lane) + ": {kind: emulated, space: serial" +
            (lane >= 2 ? ", unified: true}\n" : "}\n");
  }
  write_text(directory / "tiny.yaml", deck + "policy: " + policy + "\n");
}

MpiProcess::MpiProcess(int ranks, const std::vector<std::string>& words,
                       const std::filesystem::path& directory,
                       const std::vector<std::string>& launcher)
    : Process(launched(ranks, words, launcher), directory, ZYGOS_MPIRUN) {}

Outcome mpi_run(int ranks, const std::vector<std::string>& words,
                const std::filesystem::path& directory) {
  return MpiProcess(ranks, words, directory).wait();
}

std::string trained_weights(int ranks, const std::filesystem::path& directory,
                            const std::vector<std::string>& further) {
  const auto words = unmeasured_words(further);
  const Outcome outcome =
      ranks == 1 ? zygos_run(words, directory) : mpi_run(ranks, words, directory);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out)["weights_xxh64"];
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace zygos::test
