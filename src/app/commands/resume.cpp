// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/run/build_run.hpp"
#include "app/run/resume_rules.hpp"
#include "app/run/training_run.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

namespace {

/// `train.accumulate` replaces what an older version wrote out of the policy's own key.
void replace_micro_batches(const deck::Section& policy, const std::string& accumulate,
                           std::vector<std::string>& overrides) {
  if (policy.has("micro_batches")) {
    overrides.push_back("policy.micro_batches=" + accumulate);
  }
  if (policy.has("pipeline") && policy.section("pipeline").has("micro_batches")) {
    overrides.push_back("policy.pipeline.micro_batches=" + accumulate);
  }
}

bool are_of_policy(const std::vector<std::string>& overrides) {
  return std::ranges::any_of(overrides,
                             [](const std::string& text) { return text.starts_with("policy"); });
}

/// A run's deck has all options of its policy written out, and another one has others: what
/// chooses another one replaces them.
std::vector<std::string> with_whole_policy(const std::filesystem::path& file,
                                           std::vector<std::string> overrides) {
  constexpr std::string_view key = "policy.type=";
  constexpr std::string_view accumulate = "train.accumulate=";
  const auto asked = std::ranges::find_if(
      overrides, [&](const std::string& text) { return text.starts_with(accumulate); });
  if (asked != overrides.end() && !are_of_policy(overrides)) {
    const std::string value = asked->substr(accumulate.size());
    replace_micro_batches(load::load_deck(file, {}).spec.policy, value, overrides);
  }
  for (std::string& text : overrides) {
    if (text.starts_with(key) &&
        text.substr(key.size()) != load::load_deck(file, {}).spec.policy.text("type")) {
      text = fmt::format("policy={{type: {}}}", text.substr(key.size()));
    }
  }
  return overrides;
}

load::CheckedDeck deck_in(const std::filesystem::path& folder, const Invocation& invocation) {
  if (!std::filesystem::is_regular_file(folder / "deck.yaml")) {
    throw UsageError(fmt::format(
        "{} is not the folder of a run: it has no deck.yaml. Start one with zygos train DECK",
        folder.string()));
  }
  const std::filesystem::path file = folder / "deck.yaml";
  return load::load_deck(file, with_whole_policy(file, invocation.overrides));
}

}  // namespace

ExitCode run_resume(const Invocation& invocation, Console& console, const Ranks& ranks) {
  const std::filesystem::path path = invocation.target;
  const load::CheckedDeck deck = ranks.together([&] { return deck_in(path, invocation); });
  const auto open = [&](std::optional<RunFolder>& folder) {
    folder.emplace(path);
    auto checkpoint = newest_checkpoint(folder->checkpoints(), console);
    if (!checkpoint) {
      throw CheckpointError(
          fmt::format("{} holds no checkpoint to continue from", folder->checkpoints().string()));
    }
    return checkpoint;
  };
  return train_deck(deck, invocation, open, Elastic::policy, console, ranks);
}

}  // namespace zygos::app
