// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every policy promises, on the decks that ship: their own layers, losses and optimizers, made
// from the deck as the program makes them, shrunk so that a step takes a millisecond. A policy
// either gives the gradient of policy single, or the table below says why it refuses the deck.
#include "policy_cases.hpp"
#include "small_decks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/ways.hpp"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cctype>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_deck_policies {
namespace {

using test::DeckMode;
using test::LoadedDeck;
using test::SmallDeck;
using Lines = std::vector<std::string>;

double norm_of(const std::vector<double>& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

double difference(std::vector<double> found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] -= expected[i];
  }
  return norm_of(found) / norm_of(expected);
}

/// What the policy offers a planner.
std::vector<train::PolicyOptions> candidates_of(const std::string& keyword,
                                                const plan::Problem& problem,
                                                const plan::Profile& profile) {
  try {
    return policies::policy_from({keyword, {}})->candidates(problem, &profile);
  } catch (const UsageError&) {
    return {};  // it refuses the problem whatever its options, which its defaults show
  }
}

/// The policy's defaults and, but on three lanes, what it offers a planner. Slices are equal or
/// given, since it takes long to choose the best.
std::vector<train::PolicyOptions> choices_of(const std::string& keyword, const SmallDeck& deck,
                                             const plan::Problem& problem,
                                             const plan::Profile& profile) {
  using Option = std::pair<std::string, std::string>;
  if (keyword == "hybrid_conv_fc") {
    const Option cut{"cut_from", deck.cut_from};
    return {{cut}, {cut, {"turns", "2"}}, {cut, {"exchange", "all_gather"}, {"turns", "2"}}};
  }
  if (keyword == "tensor_parallel") {
    std::string shares = "1";
    for (std::size_t lane = 1; lane < problem.places.size(); ++lane) {
      shares += lane % 2 == 0 ? ", 1" : ", 2";
    }
    return {{Option{"shares", "equal"}}, {Option{"shares", "[" + shares + "]"}}};
  }
  std::vector<train::PolicyOptions> choices(1);
  if (problem.places.size() != 3) {
    const auto more = candidates_of(keyword, problem, profile);
    choices.insert(choices.end(), more.begin(), more.end());
  }
  return choices;
}

Lines keywords_in(DeckMode mode) {
  if (mode == DeckMode::unclipped) {
    return {"hybrid_conv_fc"};
  }
  Lines keywords;
  for (const train::PolicyEntry& entry : policies::registry()) {
    if (entry.schema.name() != "auto") {  // which is one of the others
      keywords.push_back(entry.schema.name());
    }
  }
  return keywords;
}

/// The first words of a refusal by "policy 'gpipe': ", with N for every number.
std::string reason_in(std::string message, const std::string& keyword) {
  const std::string policy = "policy '" + keyword + "'";
  REQUIRE(message.starts_with(policy));
  message = message.substr(message.find_first_not_of(": ", policy.size()));
  message = message.substr(0, message.find_first_of(",;:("));
  std::string reason;
  for (const char c : message) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      reason += c;
    } else if (!reason.ends_with('N')) {
      reason += 'N';
    }
  }
  return reason.substr(0, reason.find_last_not_of(' ') + 1);
}

/// Compares all policies with single, on each of these numbers of lanes.
class Comparison {
 public:
  Comparison(const SmallDeck& deck, DeckMode mode) : deck_(deck), mode_(mode), loaded_(deck, mode) {
    lane::LaneSet host(test::workers(1));
    const auto whole = policies::single({})->schedule(loaded_.problem(host), nullptr);
    expected_ = loaded_.two_steps(host, whole);
    CHECK(norm_of(expected_.gradient) > 0.001);  // what it is clipped to
  }

  void on(int count) {
    lane::LaneSet lanes(test::workers(count));
    const plan::Problem problem = loaded_.problem(lanes);
    const plan::Profile profile = plan::assumed_profile(problem);
    std::set<std::string> seen;
    for (const std::string& keyword : keywords_in(mode_)) {
      for (const auto& options : choices_of(keyword, deck_, problem, profile)) {
        const policies::PolicyChoice choice{keyword, options};
        try {
          auto schedule = policies::policy_from(choice)->schedule(problem, &profile);
          if (!plan::is_synchronous(schedule)) {
            refused(keyword, count, "updates several times a step");
          } else if (seen.insert(schedule.text()).second) {
            compare(choice.label(), lanes, std::move(schedule));
          }
        } catch (const UsageError& refusal) {
          refused(keyword, count, reason_in(refusal.what(), keyword));
        }
      }
    }
  }

  /// "gpipe on 2, 3: micro_batches is N".
  std::set<std::string> refusals() const {
    std::set<std::string> lines;
    for (const auto& [what, counts] : refusals_) {
      std::string text;
      for (const int count : counts) {
        text += (text.empty() ? "" : ", ") + std::to_string(count);
      }
      lines.insert(what.first + " on " + text + ": " + what.second);
    }
    return lines;
  }

 private:
  void refused(const std::string& keyword, int count, const std::string& why) {
    refusals_[{keyword, why}].insert(count);
  }

  void compare(const std::string& policy, lane::LaneSet& lanes, schedule::Schedule schedule) {
    CAPTURE(deck_.name, policy, lanes.size(), static_cast<int>(mode_));
    const LoadedDeck::Result found = loaded_.two_steps(lanes, std::move(schedule));
    CHECK(std::abs(found.loss - expected_.loss) <= 1e-12 * std::abs(expected_.loss));
    if (mode_ == DeckMode::strict) {
      CHECK(found.gradient == expected_.gradient);
      CHECK(found.weights == expected_.weights);
    } else {
      CHECK(difference(found.gradient, expected_.gradient) <= 1e-12);
      // Without clipping Adam makes a step of a gradient that is zero but for rounding.
      CHECK(
          (mode_ == DeckMode::unclipped || difference(found.weights, expected_.weights) <= 1e-12));
    }
  }

  const SmallDeck& deck_;
  DeckMode mode_;
  LoadedDeck loaded_;
  LoadedDeck::Result expected_;
  std::map<std::pair<std::string, std::string>, std::set<int>> refusals_;
};

std::set<std::string> refusals_of(const SmallDeck& deck, DeckMode mode) {
  Comparison comparison(deck, mode);
  for (const int lanes : {2, 3, 4}) {
    if (lanes != 3 || mode != DeckMode::strict) {
      comparison.on(lanes);
    }
  }
  return comparison.refusals();
}

/// Some decks are refused for more.
std::set<std::string> with(std::set<std::string> lines, const std::set<std::string>& more) {
  lines.insert(more.begin(), more.end());
  return lines;
}

const std::string no_block = "no two layers can be cut together";

/// By policies that can't clip, or update more than once in a step.
std::set<std::string> refused_clipped() {
  return {
      "hybrid_conv_fc on 2, 3, 4: the norm of a gradient that is copied in part and cut in part is "
      "not summed",
      "one_bit_adam on 2, 3, 4: optimizer.clip_norm scales the gradient of the whole batch",
      "pipedream on 2, 3, 4: each stage updates after every micro-batch",
  };
}

/// By policies that sum in another order, or update more than once in a step.
std::set<std::string> refused_strict() {
  std::set<std::string> lines{
      "one_bit_adam on 2, 4: optimizer.clip_norm scales the gradient of the whole batch"};
  for (const std::string policy : {"tensor_parallel", "hybrid_conv_fc"}) {
    lines.insert(policy +
                 " on 2, 4: a sum over lanes has another order than train.strict promises");
  }
  for (const std::string policy : {"pipedream", "pipedream_2bw"}) {
    lines.insert(policy + " on 2, 4: strict mode sums the gradient of a whole batch in one tree");
  }
  for (const std::string policy : {"zero_offload", "cotrain", "central_storage"}) {
    lines.insert(policy + " on 4: strict mode sums the gradient in one tree over all samples");
  }
  return lines;
}

/// By policies that divide the batch, where it is one sample.
std::set<std::string> refused_one_sample(const std::string& lanes) {
  std::set<std::string> lines{"hippie on " + lanes + ": replicas times micro_batches is N"};
  for (const std::string policy : {"gpipe", "one_f_one_b"}) {
    lines.insert(policy + " on " + lanes + ": micro_batches is N");
  }
  for (const std::string policy : {"data_parallel", "mirrored", "multi_worker_mirrored"}) {
    lines.insert(policy + " on " + lanes + ": the number of lanes is N");
  }
  return lines;
}

}  // namespace

TEST_CASE("Every policy gives the gradient of single on the decks that ship, or refuses as listed",
          "[train][policies]") {
  const std::set<std::string> twice{"pipedream_2bw on 2, 3, 4: updates several times a step"};
  const std::set<std::string> uncut{"tensor_parallel on 2, 3, 4: " + no_block};
  const std::set<std::string> usual = with(refused_clipped(), twice);

  CHECK(refusals_of(test::unet(), DeckMode::clipped) == usual);
  CHECK(refusals_of(test::gpt_char(), DeckMode::clipped) == usual);
  CHECK(refusals_of(test::cifar10_quick(), DeckMode::clipped) == usual);
  CHECK(refusals_of(test::lenet5_batch_norm(), DeckMode::clipped) == usual);
  CHECK(refusals_of(test::gnn(), DeckMode::clipped) == with(usual, uncut));
}

TEST_CASE("Policies that divide no batch give the gradient of single on a whole graph",
          "[train][policies]") {
  std::set<std::string> expected = with(refused_clipped(), refused_one_sample("2, 3, 4"));
  expected.erase("pipedream on 2, 3, 4: each stage updates after every micro-batch");
  expected.insert("pipedream on 2, 3, 4: micro_batches is N");
  expected.insert("pipedream_2bw on 2, 3, 4: updates times accumulate is N");
  expected.insert("tensor_parallel on 2, 3, 4: " + no_block);
  for (const std::string policy : {"zero_offload", "cotrain", "central_storage"}) {
    expected.insert(policy + " on 3, 4: number of workers is N");
  }

  CHECK(refusals_of(test::gcn(), DeckMode::clipped) == expected);
  CHECK(refusals_of(test::gcn(), DeckMode::strict) ==
        with(refused_strict(), refused_one_sample("2, 4")));
}

TEST_CASE("In strict mode policies give the bits of single on the decks that ship",
          "[train][policies]") {
  for (const SmallDeck& deck : {test::unet(), test::gpt_char(), test::cifar10_quick(), test::gnn(),
                                test::lenet5_batch_norm()}) {
    CAPTURE(deck.name);
    CHECK(refusals_of(deck, DeckMode::strict) == refused_strict());
  }
}

TEST_CASE("Without clipping hybrid_conv_fc gives the gradient of single, or refuses as listed",
          "[train][policies]") {
  const std::set<std::string> uncut{
      "hybrid_conv_fc on 2, 3, 4: layer 'denseN' begins no two layers that can be cut together"};

  CHECK(refusals_of(test::unet(), DeckMode::unclipped).empty());
  CHECK(refusals_of(test::gpt_char(), DeckMode::unclipped).empty());
  CHECK(refusals_of(test::cifar10_quick(), DeckMode::unclipped).empty());
  CHECK(refusals_of(test::gcn(), DeckMode::unclipped) == uncut);
  CHECK(refusals_of(test::gnn(), DeckMode::unclipped) == uncut);
  CHECK(refusals_of(test::lenet5_batch_norm(), DeckMode::unclipped) ==
        std::set<std::string>{
            "hybrid_conv_fc on 2, 3, 4: layer 'batch_normN' takes statistics of a batch"});
}

TEST_CASE("On one lane every policy but single asks for two, whatever the deck",
          "[train][policies]") {
  for (const SmallDeck& deck : test::small_decks()) {
    const LoadedDeck loaded(deck, DeckMode::unclipped);
    const lane::LaneSet host(test::workers(1));
    const plan::Problem problem = loaded.problem(host);
    const plan::Profile profile = plan::assumed_profile(problem);
    for (const std::string& keyword : keywords_in(DeckMode::clipped)) {
      CAPTURE(deck.name, keyword);
      std::string reason;
      try {
        static_cast<void>(policies::policy_from({keyword, {}})->schedule(problem, &profile));
      } catch (const UsageError& refusal) {
        reason = reason_in(refusal.what(), keyword);
      }
      CHECK(reason == (keyword == "single" ? "" : "needs two lanes or more and is given N"));
    }
  }
}

}  // namespace zygos::test_deck_policies
