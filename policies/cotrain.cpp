// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// zero_offload of which the first k layers are updated where they are computed (CoTrain;
// policies.md 3.14). Backward makes their gradients last and the next forward needs their weights
// first, so they are those whose way to the owner and back nothing hides.
//
//   k = 0          zero_offload
//   k = 2.5        the workers update two layers and the first half of the third's elements
//   k = layers     the workers update everything, the owner has nothing to do
//
// k is found by simulating a step for every k with the measured costs of the lanes: the step is a
// maximum of chains (backward, link, owner's updates), so a formula for one of them is not enough.
#include "offload.hpp"
#include "policy_files.hpp"

#include "zygos/core/error.hpp"
#include "zygos/plan/simulator.hpp"

#include <optional>
#include <string>
#include <utility>

namespace zygos::policies {
namespace {

constexpr const char* cotrain_keyword = "cotrain";

/// By k: the nodes in front of which k layers with parameters lie.
std::vector<std::int32_t> update_cuts(const schedule::ModelOutline& model) {
  std::vector<std::int32_t> cuts{0};
  for (std::int32_t node = 0; node < model.node_count(); ++node) {
    if (model.nodes[static_cast<std::size_t>(node)].parameters.count() > 0) {
      cuts.push_back(node + 1);
    }
  }
  return cuts;
}

class CoTrain final : public train::Policy {
 public:
  CoTrain(Offload offload, std::optional<double> device_layers)
      : offload_(std::move(offload)), device_layers_(device_layers) {
    require_bucket(offload_);
  }

  std::string_view keyword() const override { return cotrain_keyword; }

  bool needs_profile() const override { return !device_layers_; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    if (device_layers_) {
      return with(problem, *device_layers_);
    }
    ZYGOS_REQUIRE(profile != nullptr, "an automatic number of layers needs a profile");
    return with(problem, static_cast<double>(best(problem, *profile, layers_of(problem))));
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    if (!needs_profile()) {
      return {};
    }
    std::int64_t layers = 0;
    for (const schedule::NodeOutline& node : problem.model.nodes) {
      layers += updated_where_computed(made, node.parameters) ? 1 : 0;
    }
    return {{"device_layers", std::to_string(layers)}};
  }

  /// The best that leaves the owner something to do.
  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* profile) const override {
    const std::int64_t most = layers_of(problem) - 1;
    if (profile == nullptr || problem.places.size() < 2 || most < 0 ||
        !plan::can_predict(*profile, with(problem, 0.0))) {
      return {{}};
    }
    return {{{"device_layers", std::to_string(best(problem, *profile, most))}}};
  }

 private:
  static std::int64_t layers_of(const plan::Problem& problem) {
    return std::ssize(update_cuts(problem.model)) - 1;
  }

  schedule::Schedule with(const plan::Problem& problem, double layers) const {
    const auto cuts = update_cuts(problem.model);
    const std::int64_t most = layers_of(problem);
    if (!(layers >= 0.0) || layers > static_cast<double>(most)) {
      throw UsageError("policy 'cotrain': device_layers is " + number_text(layers) +
                       "; the model has " + std::to_string(most) +
                       " layers with parameters, so 0 to " + std::to_string(most));
    }
    const auto whole = static_cast<std::size_t>(layers);
    DeviceNodes device{.whole = cuts[whole]};
    if (whole + 1 < cuts.size()) {
      device.next_end = cuts[whole + 1];
      device.share_of_next = layers - static_cast<double>(whole);
    }
    return offload_schedule(problem, offload_, device);
  }

  /// The smallest of the fastest: what is not updated on a worker needs no states there.
  std::int64_t best(const plan::Problem& problem, const plan::Profile& profile,
                    std::int64_t most) const {
    std::int64_t best = 0;
    double best_s = 0.0;
    for (std::int64_t layers = 0; layers <= most; ++layers) {
      const schedule::Schedule made = with(problem, static_cast<double>(layers));
      if (!plan::can_predict(profile, made)) {
        throw UsageError(
            "policy 'cotrain': device_layers is auto, and a lane can't hold the model alone, so "
            "the times of its layers are not known; give a number of layers");
      }
      const double step_s = plan::simulate(made, profile).makespan_s;
      if (layers == 0 || step_s < best_s) {
        best = layers;
        best_s = step_s;
      }
    }
    return best;
  }

  static bool updated_where_computed(const schedule::Schedule& made,
                                     schedule::ElementRange parameters) {
    for (std::size_t part = 0; part < made.parts.size(); ++part) {
      if (parameters.count() > 0 && made.parts[part].begin <= parameters.begin &&
          parameters.begin < made.parts[part].end) {
        return made.stage_of[static_cast<std::size_t>(made.part_owners[part])] >= 0;
      }
    }
    return false;
  }

  Offload offload_;
  std::optional<double> device_layers_;
};

}  // namespace

train::PolicyPtr cotrain(CoTrainOptions options) {
  return std::make_shared<CoTrain>(
      Offload{cotrain_keyword, std::move(options.owner), options.bucket_bytes, false,
              options.speculate, options.states == schedule::Tier::file},
      options.device_layers);
}

train::PolicyEntry cotrain_entry() {
  deck::Schema schema(cotrain_keyword,
                      "As zero_offload, but the first layers are updated where they are computed, "
                      "so that host and device update at once.");
  add_offload_keys(schema);
  schema
      .real("device_layers",
            "Number of layers with parameters, from the first on, that the workers update; with a "
            "fraction, that share of the next layer's elements, too. auto: measured, a whole "
            "number, so that a step is as short as can be.")
      .in_range(0.0, 1e6)
      .or_word("auto")
      .fallback("auto")
      .example("2");
  return {schema, [](const deck::Section& section) {
            std::optional<double> layers;
            if (!section.is_word("device_layers", "auto")) {
              layers = section.real("device_layers");
            }
            return std::make_shared<CoTrain>(offload_of(cotrain_keyword, section), layers);
          }};
}

}  // namespace zygos::policies
