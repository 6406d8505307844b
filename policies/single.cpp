// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole batch on one lane: the yardstick every other policy is measured against. In parts, with
// their gradients summed, if the lane has no room for it at once.
#include "policy_files.hpp"

#include "zygos/core/error.hpp"

namespace zygos::policies {
namespace {

class Single final : public train::Policy {
 public:
  explicit Single(SingleOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return "single"; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* /*profile*/) const override {
    return whole_batch_on("single", problem, place_in(problem),
                          micro_batches_in("single", problem, options_.micro_batches));
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* /*profile*/) const override {
    std::vector<train::PolicyOptions> found;
    for (const plan::PlaceInfo& place : problem.places) {
      found.push_back({{"lane", place.name}});
    }
    return found;
  }

 private:
  schedule::Place place_in(const plan::Problem& problem) const {
    std::string names;
    for (std::size_t place = 0; place < problem.places.size(); ++place) {
      const std::string& name = problem.places[place].name;
      if (options_.place.empty() || name == options_.place) {
        return static_cast<schedule::Place>(place);
      }
      names += (names.empty() ? "" : ", ") + name;
    }
    throw UsageError("policy 'single' names lane '" + options_.place + "'; the run's lanes are " +
                     names);
  }

  SingleOptions options_;
};

}  // namespace

train::PolicyPtr single(SingleOptions options) {
  return std::make_shared<Single>(std::move(options));
}

train::PolicyEntry single_entry() {
  deck::Schema schema("single", "The whole batch on one lane.");
  schema.text("lane", "Name of the lane; the first one if not given.").optional().example("device");
  schema
      .integer("micro_batches",
               "Micro-batches (gradient accumulation): parts of the batch that are trained one "
               "after the other, their gradients summed before the update: so many times less "
               "memory for activations. Default: train.accumulate, or else 1.")
      .at_least(1)
      .optional()
      .example("4");
  return {schema, [](const deck::Section& section) {
            return single({section.has("lane") ? section.text("lane") : std::string(),
                           micro_batches_option(section)});
          }};
}

}  // namespace zygos::policies
