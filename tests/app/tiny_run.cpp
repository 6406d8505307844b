// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace zygos::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* profiles_folder = "cache/zygos/profiles";

constexpr const char* tiny_deck = R"(deck_version: 1
seed: 5
data:
  format: glyphs
  samples: 480
  test_samples: 160
model:
  layers:
    - {name: fc1, type: dense, units: 24, activation: relu}
    - {name: out, type: dense, units: 10}
  loss: cross_entropy
optimizer: {type: adam, learning_rate: 0.01}
lanes:
  host: {kind: host}
  device: {kind: emulated}
policy: {type: coarse_split, share: 0.375}
train: {batch: 32, epochs: 8, report_every: 20 steps}
)";

std::vector<fs::path> checkpoint_folders(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code none_yet;
  for (const auto& entry : fs::directory_iterator(directory / "runs/tiny/checkpoints", none_yet)) {
    if (entry.path().filename().string().rfind("step-", 0) == 0) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A folder whose cache has the profile, as long as this process lives.
class MeasuredLanes {
 public:
  MeasuredLanes() {
    write_tiny_deck(scratch_.path());
    json_of({"plan", "tiny.yaml", "--json"}, scratch_.path());
  }
  fs::path profiles() const { return scratch_.path() / profiles_folder; }

 private:
  Scratch scratch_;
};

}  // namespace

void write_tiny_deck(const fs::path& directory) { write_text(directory / "tiny.yaml", tiny_deck); }

void keep_tiny_profile(const fs::path& directory) {
  static const MeasuredLanes measured;
  fs::create_directories(directory / profiles_folder);
  fs::copy(measured.profiles(), directory / profiles_folder);
}

std::vector<std::string> train_words(const std::vector<std::string>& further) {
  std::vector<std::string> words{"train", "tiny.yaml", "--json"};
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

std::vector<std::string> unmeasured_words(const std::vector<std::string>& further) {
  std::vector<std::string> words = train_words(further);
  words.emplace_back("--unmeasured");
  return words;
}

nlohmann::json json_of(const std::vector<std::string>& words, const fs::path& directory) {
  const Outcome outcome = zygos_run(words, directory);
  CAPTURE(words, outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

nlohmann::json train_to_the_end(const fs::path& directory,
                                const std::vector<std::string>& further) {
  return json_of(train_words(further), directory);
}

nlohmann::json train_unmeasured(const fs::path& directory,
                                const std::vector<std::string>& further) {
  return json_of(unmeasured_words(further), directory);
}

nlohmann::json summary_in(const fs::path& directory) {
  return nlohmann::json::parse(read_text(directory / "runs/tiny/summary.json"));
}

std::size_t checkpoints_in(const fs::path& directory) {
  return checkpoint_folders(directory).size();
}

bool wait_for_checkpoints(const fs::path& directory, std::size_t count) {
  for (int i = 0; i < 6000; ++i) {
    if (checkpoints_in(directory) >= count) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

fs::path newest_checkpoint_in(const fs::path& directory) {
  return checkpoint_folders(directory).back();
}

}  // namespace zygos::test
