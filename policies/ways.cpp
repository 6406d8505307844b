// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/policies/ways.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/plan/staleness.hpp"
#include "zygos/policies/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace zygos::policies {

namespace {

bool is_choosable(const train::PolicyEntry& entry) { return entry.schema.name() != "auto"; }

void require_known(const std::vector<std::string>& among) {
  const auto entries = registry();
  std::string names;
  for (const train::PolicyEntry& entry : entries) {
    if (is_choosable(entry)) {
      names += (names.empty() ? "" : ", ") + entry.schema.name();
    }
  }
  for (const std::string& keyword : among) {
    const bool known = std::ranges::any_of(entries, [&](const train::PolicyEntry& entry) {
      return is_choosable(entry) && entry.schema.name() == keyword;
    });
    if (!known) {
      throw UsageError(fmt::format(
          "policy 'auto' is to choose '{}', and there is no such policy; name one of {}", keyword,
          names));
    }
  }
}

class WayFinder {
 public:
  WayFinder(const plan::Problem& problem, const plan::Profile& profile, const WaySearch& search)
      : problem_(problem), profile_(profile), search_(search) {}

  Ways find() {
    require_known(search_.among);
    for (const train::PolicyEntry& entry : registry()) {
      if (search_.among.empty() && is_choosable(entry)) {
        add_policy(entry.schema.name());
      }
    }
    for (const std::string& keyword : search_.among) {
      add_policy(keyword);
    }
    if (candidates_.empty()) {
      refuse_all();
    }
    result_.found = plan::recommend(problem_, profile_, std::move(candidates_));
    result_.found.refusals = std::move(refusals_);
    return std::move(result_);
  }

 private:
  train::PolicyPtr make(const PolicyChoice& choice) const {
    return search_.make ? search_.make(choice) : policy_from(choice);
  }

  void add_policy(const std::string& keyword) {
    const auto policy = make({keyword, {}});
    const bool named = std::ranges::find(search_.named, keyword) != search_.named.end();
    auto choices = candidates_of(*policy);
    if (named) {
      // Of one schedule the first options are kept: a deck's own, or else those that say more.
      choices.insert(search_.among.empty() ? choices.begin() : choices.end(),
                     train::PolicyOptions{});
    }
    const std::size_t known = candidates_.size();
    std::vector<plan::Refusal> refused;
    for (const train::PolicyOptions& options : choices) {
      const PolicyChoice choice{keyword, options};
      try {
        add({choice, {}}, named);
      } catch (const UsageError& error) {
        refused.push_back({choice.label(), error.what()});
      } catch (const MemoryError& error) {
        lacks_memory_ = true;
        refused.push_back({choice.label(), error.what()});
      }
    }
    keep_refusals(keyword, std::move(refused), candidates_.size() == known);
  }

  /// One that can't run here may not even say how it would: making its schedule says why.
  std::vector<train::PolicyOptions> candidates_of(const train::Policy& policy) const {
    try {
      return policy.candidates(problem_, &profile_);
    } catch (const UsageError&) {
      return {{}};
    } catch (const MemoryError&) {
      return {{}};
    }
  }

  /// A policy that is refused whatever its options is named once.
  void keep_refusals(const std::string& keyword, std::vector<plan::Refusal> refused, bool all) {
    const bool same = std::ranges::all_of(refused, [&](const plan::Refusal& refusal) {
      return refusal.reason == refused.front().reason;
    });
    if (all && same && !refused.empty()) {
      refused = {{keyword, refused.front().reason}};
    }
    refusals_.insert(refusals_.end(), refused.begin(), refused.end());
  }

  void add(Way way, bool named) {
    const auto policy = make(way.choice);
    schedule::Schedule schedule = policy->schedule(problem_, &profile_);
    if (!seen_.insert(schedule.text()).second) {
      return;
    }
    if (!plan::can_predict(profile_, schedule)) {
      throw UsageError(
          "a lane can't hold the model alone, so the times of its layers are not known");
    }
    auto peak = search_.memory ? search_.memory(schedule) : std::vector<memory::Usage>{};
    way.decisions = policy->decisions(problem_, schedule);
    plan::Candidate candidate =
        plan::candidate(way.decided().label(), std::move(schedule), profile_);
    candidate.eligible = named || plan::is_synchronous(candidate.schedule);
    candidate.peak = std::move(peak);
    candidates_.push_back(std::move(candidate));
    result_.ways.push_back(std::move(way));
  }

  [[noreturn]] void refuse_all() const {
    if (lacks_memory_) {
      throw MemoryError(fmt::format(
          "no policy can run a batch of {} samples on these lanes. {}; lower train.batch or raise "
          "the budgets",
          problem_.batch, refusals_.front().reason));
    }
    std::string text =
        fmt::format("no policy {}can run here", search_.among.empty() ? "" : "of those named ");
    for (const plan::Refusal& refusal : refusals_) {
      text += fmt::format("\n  {}: {}", refusal.policy, refusal.reason);
    }
    throw UsageError(text);
  }

  const plan::Problem& problem_;
  const plan::Profile& profile_;
  const WaySearch& search_;
  Ways result_;
  std::vector<plan::Candidate> candidates_;
  std::vector<plan::Refusal> refusals_;
  bool lacks_memory_ = false;
  std::set<std::string> seen_;  ///< different options can say the same schedule
};

}  // namespace

WaySearch search_for(const train::Policy& policy) {
  if (!policy.chosen_by_planner()) {
    return {.among = {}, .named = {std::string(policy.keyword())}};
  }
  return {.among = policy.among(), .named = policy.among()};
}

Ways find_ways(const plan::Problem& problem, const plan::Profile& profile,
               const WaySearch& search) {
  return WayFinder(problem, profile, search).find();
}

train::PolicyPtr policy_from(const PolicyChoice& choice) {
  for (const train::PolicyEntry& entry : registry()) {
    if (entry.schema.name() == choice.keyword) {
      std::string text = "{";
      for (const auto& [key, value] : choice.options) {
        text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", key, value);
      }
      return entry.make(deck::Deck::parse(text + "}", choice.keyword, entry.schema).root());
    }
  }
  throw UsageError(fmt::format("there is no policy '{}'", choice.keyword));
}

}  // namespace zygos::policies
