// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The model is cut between layers and each lane holds one stage of it; every batch goes through all
// of them, forward and backward. Activations and their gradients cross the cuts, weights never do.
// One lane works at a time: it is memory that this gains, not speed (policies.md 3.5).
//
//   step = sum over stages of (forward + backward) + what crosses the cuts + update
#include "pipeline.hpp"

namespace zygos::policies {
namespace {

constexpr const char* layer_placement_keyword = "layer_placement";

class LayerPlacement final : public train::Policy {
 public:
  explicit LayerPlacement(LayerPlacementOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return layer_placement_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    const PipelineLayout layout =
        layout_for(layer_placement_keyword, problem, profile, options_.stages,
                   {.goal = plan::PartitionGoal::sum_of_stages, .in_flight = {}});
    std::vector<Program> programs(problem.places.size());
    for (const auto& places : layout.places) {
      programs[static_cast<std::size_t>(places.front())] = {forward_of(0), backward_of(0),
                                                            update_now()};
    }
    schedule::ScheduleBuilder builder(
        pipeline_outline(layer_placement_keyword, problem, layout, {{0, problem.batch}}));
    add_programs(builder, layout, programs);
    return std::move(builder).build();
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return stage_decisions(problem, made, options_.stages);
  }

 private:
  LayerPlacementOptions options_;
};

}  // namespace

train::PolicyPtr layer_placement(LayerPlacementOptions options) {
  return std::make_shared<LayerPlacement>(std::move(options));
}

train::PolicyEntry layer_placement_entry() {
  deck::Schema schema(layer_placement_keyword,
                      "Layer placement (model parallelism): the layers are divided between the "
                      "lanes; a batch goes through them in turn.");
  add_stage_keys(schema);
  return {schema,
          [](const deck::Section& section) { return layer_placement({stage_options(section)}); }};
}

}  // namespace zygos::policies
