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

constexpr const char* keyword_text = "auto";

class Auto final : public train::Policy {
 public:
  explicit Auto(std::vector<std::string> among) : among_(std::move(among)) {}

  std::string_view keyword() const override { return keyword_text; }

  bool needs_profile() const override { return true; }

  bool chosen_by_planner() const override { return true; }

  std::vector<std::string> among() const override { return among_; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    ZYGOS_REQUIRE(profile != nullptr, "a choice of policies needs a profile");
    return find_ways(problem, *profile, search_for(*this)).best().schedule;
  }

 private:
  std::vector<std::string> among_;
};

}  // namespace

train::PolicyPtr automatic(std::vector<std::string> among) {
  return std::make_shared<Auto>(std::move(among));
}

train::PolicyEntry auto_entry() {
  deck::Schema schema(keyword_text,
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
  return {schema, [](const deck::Section& section) {
            return automatic(section.is_word("among", "all") ? std::vector<std::string>{}
                                                             : section.texts("among"));
          }};
}

}  // namespace zygos::policies
