// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One forward, one backward, with a flush at the end of the batch (DAPPLE, Fan et al., PPoPP 2021;
// PipeDream-Flush, Narayanan et al., ICML 2021). As gpipe, but a stage begins with a micro-batch's
// backward as soon as it can, so that stage s of K holds the activations of K - s micro-batches and
// not of all M. Same idle time, same sums in the same order, same bits.
//
//   F0 F1 .  B0 F2 B1 F3 B2 .  B3 U
//   .  F0 B0 F1 B1 F2 B2 F3 B3 U
#include "pipeline.hpp"

#include <numeric>

namespace zygos::policies {
namespace {

constexpr const char* one_f_one_b_keyword = "one_f_one_b";

class OneForwardOneBackward final : public train::Policy {
 public:
  explicit OneForwardOneBackward(OneFOneBOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return one_f_one_b_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    const std::int64_t count = micro_batches_in(
        one_f_one_b_keyword, problem, options_.micro_batches, micro_batches_of_a_pipeline);
    const PipelineLayout layout =
        layout_for(one_f_one_b_keyword, problem, profile, options_.stages,
                   {.micro_batches = count,
                    .in_flight = plan::for_one_f_one_b(options_.recompute ? 1 : count)});
    const auto pieces = divide(one_f_one_b_keyword, problem, {0, problem.batch}, count);
    std::vector<schedule::MicroBatch> micro_batches(pieces.size());
    std::iota(micro_batches.begin(), micro_batches.end(), 0);
    std::vector<Program> programs(problem.places.size());
    for (std::size_t stage = 0; stage < layout.depth(); ++stage) {
      const std::size_t warm_ups = layout.depth() - 1 - stage;
      // Without warm-ups a backward follows its forward at once: to recompute would save nothing.
      const bool keeps = !options_.recompute || warm_ups == 0;
      programs[static_cast<std::size_t>(layout.places[stage].front())] =
          alternating(micro_batches, warm_ups, micro_batches.size(), keeps);
    }
    schedule::ScheduleBuilder builder(
        pipeline_outline(one_f_one_b_keyword, problem, layout, pieces, {}, Accumulation::done));
    add_programs(builder, layout, programs);
    return std::move(builder).build();
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return stage_decisions(problem, made, options_.stages);
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* /*profile*/) const override {
    auto found = micro_batches_to_try(problem, 4);
    found.push_back({{"recompute", "true"}});
    return found;
  }

 private:
  OneFOneBOptions options_;
};

}  // namespace

train::PolicyPtr one_f_one_b(OneFOneBOptions options) {
  return std::make_shared<OneForwardOneBackward>(std::move(options));
}

train::PolicyEntry one_f_one_b_entry() {
  deck::Schema schema(one_f_one_b_keyword,
                      "Pipeline parallelism: micro-batches go through stages of the model, back as "
                      "soon as they can.");
  schema
      .integer("micro_batches",
               "Micro-batches: parts of the batch that go through the stages one after the other; "
               "more of them leave less idle time, and less work for each kernel. Default: "
               "train.accumulate, or else 8.")
      .at_least(1)
      .optional()
      .example("8");
  schema
      .boolean("recompute",
               "Activation recomputation: whether activations are computed once more for backward "
               "instead of being kept. It saves memory, costs a second forward and changes no bit.")
      .fallback(false);
  add_stage_keys(schema);
  return {schema, [](const deck::Section& section) {
            return one_f_one_b({micro_batches_option(section), section.boolean("recompute"),
                                stage_options(section)});
          }};
}

}  // namespace zygos::policies
