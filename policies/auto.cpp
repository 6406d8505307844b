// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the planner recommends: the candidates of the other policies are simulated with the lanes'
// profile, and the fastest is taken, by the rules of plan::recommend(). What is decided is another
// policy with its options, so it is that policy's keyword and options which a checkpoint keeps.
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/ways.hpp"

#include <utility>

namespace zygos::policies {
namespace {

constexpr const char* auto_keyword = "auto";

class Auto final : public train::Policy {
 public:
  Auto(std::vector<std::string> among, std::int64_t trials)
      : among_(std::move(among)), trials_(trials) {}

  std::string_view keyword() const override { return auto_keyword; }

  bool needs_profile() const override { return true; }

  bool chosen_by_planner() const override { return true; }

  std::vector<std::string> among() const override { return among_; }

  std::int64_t trials() const override { return trials_; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    ZYGOS_REQUIRE(profile != nullptr, "a choice of policies needs a profile");
    return find_ways(problem, *profile, search_for(*this)).best().schedule;
  }

 private:
  std::vector<std::string> among_;
  std::int64_t trials_;
};

}  // namespace

train::PolicyPtr automatic(std::vector<std::string> among, std::int64_t trials) {
  return std::make_shared<Auto>(std::move(among), trials);
}

train::PolicyEntry auto_entry() {
  deck::Schema schema(auto_keyword,
                      "What `zygos plan` recommends, decided by measuring the lanes when the run "
                      "starts, and kept in its checkpoints.");
  schema
      .texts("among",
             "Policies to choose from, by keyword. Those that learn with stale gradients are "
             "chosen only if they are named here; all: all others.")
      .length(1)
      .or_word("all")
      .fallback("all")
      .example("[single, coarse_split, gpipe]");
  schema
      .integer("trials",
               "Trial runs: so many of the ways that are predicted to be fastest are trained with "
               "for some steps each when the run starts, and the one that was fastest is taken. 0 "
               "or 1: predictions alone decide.")
      .in_range(0, 64)
      .fallback("0")
      .example("4");
  return {schema, [](const deck::Section& section) {
            return automatic(section.is_word("among", "all") ? std::vector<std::string>{}
                                                             : section.texts("among"),
                             section.integer("trials"));
          }};
}

}  // namespace zygos::policies
