// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace zygos::policies::test_registry {
namespace {

const train::PolicyEntry& entry_of(const std::vector<train::PolicyEntry>& entries,
                                   const std::string& keyword) {
  return *std::ranges::find_if(
      entries, [&](const train::PolicyEntry& entry) { return entry.schema.name() == keyword; });
}

train::PolicyPtr policy_of(const std::string& keyword, const std::string& text) {
  const auto entries = registry();
  const train::PolicyEntry& entry = entry_of(entries, keyword);
  return entry.make(deck::Deck::parse(text, "deck.yaml", entry.schema).root());
}

std::int64_t first_lane_samples(const train::PolicyPtr& policy) {
  return policy->schedule(test::host_and_device(), nullptr).samples_of(0).count();
}

TEST_CASE("Every registered policy has its own keyword, and makes a policy of that keyword") {
  std::set<std::string> keywords;
  for (const train::PolicyEntry& entry : registry()) {
    CAPTURE(entry.schema.name());
    CHECK(keywords.insert(entry.schema.name()).second);
    CHECK_FALSE(entry.schema.doc().empty());
    CHECK(policy_of(entry.schema.name(), "{}")->keyword() == entry.schema.name());
  }
  CHECK(keywords.contains("single"));
}

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Files of a folder whose name begins so, put together.
std::string texts_of(const std::filesystem::path& folder, const std::string& begin) {
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(begin)) {
      text += text_of_file(entry.path());
    }
  }
  return text;
}

TEST_CASE(
    "Every registered policy has a file, a golden schedule, a deck, a picture and its "
    "documentation") {
  const std::string decks = texts_of("inputs", "");
  const std::string page = text_of_file("docs/policies.md");
  const std::string table = text_of_file("policies/README.md");
  for (const train::PolicyEntry& entry : registry()) {
    const std::string& name = entry.schema.name();
    CAPTURE(name);
    CHECK(std::filesystem::exists("policies/" + name + ".cpp"));
    const bool has_schedules = !policy_of(name, "{}")->chosen_by_planner();
    CHECK((!has_schedules ||
           texts_of("tests/policies/golden", name).find("policy " + name + ",") == 0));
    CHECK((decks.find("type: " + name + ",") != std::string::npos ||
           decks.find("type: " + name + "\n") != std::string::npos ||
           decks.find("type: " + name + "}") != std::string::npos));
    CHECK(page.find("\n## " + name + "\n") != std::string::npos);
    CHECK((!has_schedules || page.find("](policies/" + name + ".svg)") != std::string::npos));
    CHECK((!has_schedules || std::filesystem::exists("docs/policies/" + name + ".svg")));
    CHECK(table.find("| `" + name + ".cpp` |") != std::string::npos);
  }
}

TEST_CASE("Every policy file with an entry is registered") {
  std::set<std::string> registered;
  for (const train::PolicyEntry& entry : registry()) {
    registered.insert(entry.schema.name());
  }
  for (const auto& entry : std::filesystem::directory_iterator("policies")) {
    const std::string name = entry.path().stem().string();
    if (text_of_file(entry.path()).find("train::PolicyEntry " + name + "_entry()") !=
        std::string::npos) {
      CHECK(registered.contains(name));
    }
  }
}

TEST_CASE("A deck chooses the lane of single") {
  CHECK(first_lane_samples(policy_of("single", "lane: device")) == 0);
  CHECK(first_lane_samples(policy_of("single", "{}")) == 100);
}

TEST_CASE("A deck chooses the share of a coarse split, auto unless told") {
  CHECK(first_lane_samples(policy_of("coarse_split", "share: 0.3")) == 30);
  CHECK(policy_of("coarse_split", "share: auto")->needs_profile());
  CHECK(policy_of("coarse_split", "{}")->needs_profile());
}

TEST_CASE("A deck chooses shares and pipeline of a coarse split") {
  const auto problem = test::lanes_problem(3, 24, test::chain_of(4));
  const auto by_deck = [&](const std::string& text) {
    return policy_of("coarse_split", text)->schedule(problem, nullptr).text();
  };
  CoarseSplitOptions options;
  options.shares = {1.0, 2.0, 0.0};
  CHECK(by_deck("shares: [1, 2, 0]") == coarse_split(options)->schedule(problem, nullptr).text());
  options.shares = {1.0, 2.0};
  options.pipeline = SplitPipelineOptions{.stages = {.cuts = {"c"}, .lanes = {"l2", "l1"}},
                                          .micro_batches = 3,
                                          .forwards_first = true,
                                          .recompute = true};
  CHECK(by_deck("{shares: [1, 2], pipeline: {lanes: [l2, l1], cuts: [c], micro_batches: 3, "
                "schedule: gpipe, recompute: true}}") ==
        coarse_split(options)->schedule(problem, nullptr).text());
  options = {.share = {}, .samples = {}, .shares = {1.0, 2.0, 1.0}, .micro_batches = 3};
  CHECK(by_deck("{shares: [1, 2, 1], micro_batches: 3}") ==
        coarse_split(options)->schedule(problem, nullptr).text());
  CHECK_THROWS_AS(policy_of("coarse_split", "{share: 0.5, shares: [1, 1]}"), UsageError);
}

TEST_CASE("A share beyond 1 and an unknown key are findings of the deck") {
  CHECK_THROWS_AS(policy_of("coarse_split", "share: 1.5"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("coarse_split", "ratio: 0.5"), deck::DeckError);
}

std::string text_by_deck(const std::string& keyword, const std::string& text,
                         const plan::Problem& problem) {
  return policy_of(keyword, text)->schedule(problem, nullptr).text();
}

TEST_CASE("A deck chooses cuts, lanes and micro-batches of a pipeline") {
  const auto problem = test::lanes_problem(3, 12, test::chain_of(4));
  const StageOptions stages{{"c"}, {"l2", "l0"}};
  const std::string keys = "cuts: [c], lanes: [l2, l0]";

  CHECK(text_by_deck("layer_placement", "{" + keys + "}", problem) ==
        layer_placement({stages})->schedule(problem, nullptr).text());
  CHECK(
      text_by_deck("gpipe", "{micro_batches: 3, recompute: except_last, " + keys + "}", problem) ==
      gpipe({3, Recompute::except_last, stages})->schedule(problem, nullptr).text());
  CHECK(text_by_deck("one_f_one_b", "{micro_batches: 3, recompute: true, " + keys + "}", problem) ==
        one_f_one_b({3, true, stages})->schedule(problem, nullptr).text());
  CHECK(text_by_deck("gpipe", "{}", problem) == gpipe({})->schedule(problem, nullptr).text());
}

TEST_CASE("A deck chooses replicas, vertical sync, averages and groups of PipeDream") {
  const auto problem = test::lanes_problem(3, 12, test::chain_of(4));

  CHECK(text_by_deck("pipedream", "{micro_batches: 4, replicas: [2, 1], average: 2 steps}",
                     problem) ==
        pipedream({4, {2, 1}, false, 2, {}})->schedule(problem, nullptr).text());
  CHECK(text_by_deck("pipedream", "{micro_batches: 4, vertical_sync: true}", problem) ==
        pipedream({4, {}, true, 0, {}})->schedule(problem, nullptr).text());
  CHECK(text_by_deck("pipedream_2bw", "{updates: 2, accumulate: 4}", problem) ==
        pipedream_2bw({2, 4, {}})->schedule(problem, nullptr).text());
}

TEST_CASE("A deck chooses exchange, shares, buckets and micro-batches of data parallel") {
  const auto problem = test::lanes_problem(2, 12, test::chain_of(4));

  CHECK(text_by_deck("data_parallel",
                     "{exchange: central, shares: [3, 1], bucket: 300 B, micro_batches: 2}",
                     problem) ==
        data_parallel({Exchange::central, {3.0, 1.0}, 300, 2})->schedule(problem, nullptr).text());
  CHECK(text_by_deck("data_parallel", "{}", problem) ==
        data_parallel({})->schedule(problem, nullptr).text());
}

TEST_CASE("Options out of their range are findings of the deck") {
  CHECK_THROWS_AS(policy_of("gpipe", "micro_batches: 0"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("coarse_split", "micro_batches: 0"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("gpipe", "recompute: sometimes"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("layer_placement", "lanes: [l0]"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("data_parallel", "shares: [1, 0]"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("data_parallel", "bucket: 0 B"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("pipedream", "replicas: [0, 1]"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("pipedream", "average: 0 steps"), deck::DeckError);
  CHECK_THROWS_AS(policy_of("pipedream_2bw", "accumulate: 0"), deck::DeckError);
}

}  // namespace
}  // namespace zygos::policies::test_registry
