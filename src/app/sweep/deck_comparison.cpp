// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/sweep/deck_comparison.hpp"

#include "app/report/run_report.hpp"
#include "app/sweep/child_process.hpp"
#include "app/table.hpp"
#include "app/text.hpp"
#include "core/median.hpp"

#include "zygos/load/deck_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

namespace zygos::app {

namespace {

constexpr std::int64_t rounds = 3;
constexpr std::int64_t usual_steps_of_deck = 60;
/// The name of a deck is no difference of what it does.
constexpr const char* name_key = "name";

/// What zygos bench has said of a deck, all rounds together.
struct DeckTiming {
  nlohmann::json facts{};  ///< of the last round
  std::vector<double> seconds{};

  double median_s() const { return median(seconds); }
  double samples_per_s() const { return facts["batch"].get<double>() / median_s(); }
};

nlohmann::json bench(const std::string& deck, std::int64_t steps, const Invocation& invocation,
                     const std::vector<std::string>& overrides) {
  std::vector<std::string> words{"bench", deck};
  words.insert(words.end(), overrides.begin(), overrides.end());
  words.insert(words.end(), {"--json", "--steps", std::to_string(steps), "--color", "never"});
  if (invocation.threads) {
    words.insert(words.end(), {"--threads", std::to_string(*invocation.threads)});
  }
  words.insert(words.end(), invocation.kokkos_arguments.begin(), invocation.kokkos_arguments.end());
  const OutputFile output;
  const OutputFile errors;
  ChildProcess child(words, output, errors);
  while (!child.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (child.code() != 0) {
    const auto code = child.code() > static_cast<int>(ExitCode::self_check)
                          ? ExitCode::peer
                          : static_cast<ExitCode>(child.code());
    throw Error(code, fmt::format("{}: {}", deck, child_problem(child.code(), errors.text())));
  }
  return nlohmann::json::parse(output.text());
}

std::vector<DeckTiming> timings_of(const std::vector<std::string>& decks,
                                   const Invocation& invocation,
                                   const std::vector<std::string>& overrides, Console& console) {
  const std::int64_t steps = invocation.steps.value_or(usual_steps_of_deck);
  const std::int64_t each = std::max<std::int64_t>(1, steps / rounds);
  std::vector<DeckTiming> timings(decks.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < decks.size(); ++i) {
      console.status(fmt::format("round {}/{}: {}", round + 1, rounds, decks[i]));
      timings[i].facts = bench(decks[i], each, invocation, overrides);
      for (const nlohmann::json& seconds : timings[i].facts["step_seconds"]) {
        timings[i].seconds.push_back(seconds.get<double>());
      }
    }
  }
  return timings;
}

std::string timing_table(const std::vector<std::string>& decks,
                         const std::vector<DeckTiming>& timings) {
  using Align = Table::Align;
  Table table({{"deck"},
               {"policy"},
               {"parameters", Align::right},
               {"batch", Align::right},
               {"step", Align::right},
               {"samples/s", Align::right},
               {"speed-up", Align::right}});
  for (std::size_t i = 0; i < decks.size(); ++i) {
    const nlohmann::json& facts = timings[i].facts;
    table.add({decks[i], facts["policy"].get<std::string>(),
               text_of_count(facts["parameters"].get<std::int64_t>()),
               text_of_count(facts["batch"].get<std::int64_t>()),
               text_of_seconds(timings[i].median_s()), text_of_rate(timings[i].samples_per_s()),
               text_of_speedup(timings[i].samples_per_s() / timings.front().samples_per_s())});
  }
  return table.text();
}

std::string difference_table(const std::vector<std::string>& decks,
                             const std::vector<DeckDifference>& differences) {
  std::vector<Table::Column> columns{{"key"}};
  for (const std::string& deck : decks) {
    columns.push_back({deck});
  }
  Table table(columns);
  for (const DeckDifference& difference : differences) {
    std::vector<std::string> cells{difference.key};
    cells.insert(cells.end(), difference.values.begin(), difference.values.end());
    table.add(std::move(cells));
  }
  return table.text();
}

nlohmann::json comparison_json(const std::vector<std::string>& decks,
                               const std::vector<DeckTiming>& timings,
                               const std::vector<DeckDifference>& differences) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < decks.size(); ++i) {
    nlohmann::json row = timings[i].facts;
    row.erase("step_seconds");
    row["file"] = decks[i];
    row["steps"] = timings[i].seconds.size();
    row["median_step_s"] = timings[i].median_s();
    row["min_step_s"] = *std::ranges::min_element(timings[i].seconds);
    row["samples_per_s"] = timings[i].samples_per_s();
    rows.push_back(std::move(row));
  }
  nlohmann::json keys = nlohmann::json::array();
  for (const DeckDifference& difference : differences) {
    keys.push_back({{"key", difference.key}, {"values", difference.values}});
  }
  return {{"decks", rows}, {"differences", keys}};
}

}  // namespace

std::vector<DeckDifference> deck_differences(const std::vector<std::string>& resolved) {
  std::vector<DeckDifference> result;
  for (std::size_t i = 1; i < resolved.size(); ++i) {
    for (const deck::Difference& change : deck::differences(resolved.front(), resolved[i])) {
      if (change.key == name_key) {
        continue;
      }
      auto found = std::ranges::find(result, change.key, &DeckDifference::key);
      if (found == result.end()) {
        result.push_back({change.key, std::vector(resolved.size(), change.before)});
        found = result.end() - 1;
      }
      found->values[i] = change.after;
    }
  }
  return result;
}

ExitCode compare_decks(const std::vector<std::string>& decks, const Invocation& invocation,
                       Console& console) {
  std::vector<std::string> overrides;
  std::ranges::copy_if(invocation.overrides, std::back_inserter(overrides), is_override);
  std::vector<std::string> resolved;
  for (const std::string& deck : decks) {
    resolved.push_back(load::load_deck(deck, overrides).deck.resolved());
  }
  const std::vector<DeckDifference> differences = deck_differences(resolved);
  const std::vector<DeckTiming> timings = timings_of(decks, invocation, overrides, console);
  console.say(timing_table(decks, timings));
  console.say("");
  console.say(differences.empty() ? "the decks say the same"
                                  : difference_table(decks, differences));
  if (console.wants_json()) {
    console.json(comparison_json(decks, timings, differences));
  }
  return ExitCode::done;
}

}  // namespace zygos::app
