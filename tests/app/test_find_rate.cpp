// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>
#include <sstream>
#include <string>

namespace zygos::test::test_find_rate {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> find_words(const std::vector<std::string>& further = {}) {
  std::vector<std::string> words{"find-rate", "tiny.yaml", "--json"};
  words.insert(words.end(), further.begin(), further.end());
  return words;
}

/// Everything below a folder but what this test keeps of the program's output.
std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(".out") && !name.starts_with(".err")) {
      names.insert(entry.path().string());
    }
  }
  return names;
}

}  // namespace

TEST_CASE("find-rate trains with a growing rate, suggests one, and leaves nothing behind") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  zygos_run({"info"}, scratch.path());  // whatever any command leaves
  const auto before = files_in(scratch.path());

  const nlohmann::json result = json_of(find_words(), scratch.path());

  CHECK(files_in(scratch.path()) == before);
  const auto& rows = result["rows"];
  REQUIRE(rows.size() > 50);
  CHECK_THAT(rows[0]["rate"].get<double>(), WithinRel(1e-6, 1e-6));
  const double factor = rows[1]["rate"].get<double>() / rows[0]["rate"].get<double>();
  CHECK_THAT(factor, WithinRel(std::pow(1e7, 1.0 / 99.0), 1e-6));
  REQUIRE(result["suggested"].is_number());
  CHECK(result["suggested"] > 1e-4);
  CHECK(result["suggested"] < 0.3);
}

TEST_CASE("the suggested rate trains better than one a hundred times smaller or larger") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const double rate = json_of(find_words(), scratch.path())["suggested"];
  const auto loss = [&](double factor) {
    return train_unmeasured(scratch.path(),
                            {"optimizer.learning_rate=" + std::to_string(rate * factor),
                             "train.epochs=4", "--fresh"})["test_loss"]
        .get<double>();
  };

  const double suggested = loss(1.0);

  CHECK(suggested < loss(0.01));
  CHECK(suggested < loss(100.0));
}

TEST_CASE("the steps of a test are those of training with that schedule") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json result =
      json_of(find_words({"--from", "1e-4", "--to", "1e-2", "--steps", "20"}), scratch.path());
  train_unmeasured(scratch.path(),
                   {"optimizer={type: adam, learning_rate: 1e-4, schedule: {type: exponential, "
                    "every: 19 steps, factor: 100}}",
                    "train.steps=20", "train.report_every=1 steps"});

  std::istringstream lines(read_text(scratch.path() / "runs/tiny/metrics.jsonl"));
  std::vector<double> losses;
  for (std::string line; std::getline(lines, line);) {
    const auto metrics = nlohmann::json::parse(line);
    if (metrics["kind"] == "train") {
      losses.push_back(metrics["loss"]);
    }
  }
  REQUIRE(losses.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(result["rows"][i]["loss"] == losses[i]);
  }
}

TEST_CASE("a test ends where training diverges, and what is behind that is no suggestion") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const nlohmann::json result = json_of(
      find_words({"optimizer={type: sgd}", "--from", "1e-3", "--to", "1e6"}), scratch.path());

  CHECK(result["diverged"] == true);
  CHECK(result["rows"].size() < 100);
  CHECK(result["suggested"] < result["smallest_loss_at"]);
}

TEST_CASE("find-rate says so where no rate is worth suggesting, and refuses bad ranges") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());

  const Outcome none =
      zygos_run({"find-rate", "tiny.yaml", "--from", "1e-12", "--to", "1e-10", "--steps", "30"},
                scratch.path());
  CHECK(none.code == 0);
  CHECK_THAT(none.out, ContainsSubstring("none: the loss falls by no more than its noise"));
  CHECK(zygos_run(find_words({"--from", "1", "--to", "0.1"}), scratch.path()).code == 2);
  CHECK(zygos_run(find_words({"--from", "0"}), scratch.path()).code == 2);
  CHECK(zygos_run(find_words({"--steps", "5"}), scratch.path()).code == 2);
  const Outcome late =
      zygos_run({"find-rate", "tiny.yaml", "--from", "1e30", "--to", "1e38"}, scratch.path());
  CHECK(late.code == 0);
  CHECK_THAT(late.out, ContainsSubstring("none: training diverges before the loss falls"));
}

}  // namespace zygos::test::test_find_rate
