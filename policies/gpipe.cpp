// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// GPipe (Huang et al., NeurIPS 2019): the batch goes through the stages in micro-batches, so that
// all of them work at once; all forwards, then all backwards, then one update. Synchronous: the
// gradient is the batch's, as if nothing were cut (policies.md 3.6).
//
//   F0 F1 F2 F3 .  .  B0 B1 B2 B3 U      idle: (K - 1) / (M + K - 1) of the time, for K stages
//   .  F0 F1 F2 F3 B0 B1 B2 B3 U         and M micro-batches
//
// Backwards go through the micro-batches in the order of the forwards, on every stage: gradients
// are summed in that order, which is one_f_one_b's too, so both have the same bits. A place holds
// the activations of all M, or with recompute their boundaries and the activations of one.
#include "pipeline.hpp"

namespace zygos::policies {
namespace {

constexpr const char* gpipe_keyword = "gpipe";

class Gpipe final : public train::Policy {
 public:
  explicit Gpipe(GpipeOptions options) : options_(std::move(options)) {}

  std::string_view keyword() const override { return gpipe_keyword; }

  schedule::Schedule schedule(const plan::Problem& problem,
                              const plan::Profile* profile) const override {
    const std::int64_t count = micro_batches_in(gpipe_keyword, problem, options_.micro_batches,
                                                micro_batches_of_a_pipeline);
    const PipelineLayout layout = layout_for(
        gpipe_keyword, problem, profile, options_.stages,
        {.micro_batches = count,
         .in_flight = plan::for_gpipe(options_.recompute == Recompute::always ? 1 : count)});
    const auto micro_batches = divide(gpipe_keyword, problem, {0, problem.batch}, count);
    const Program program = all_forward_then_all_backward(static_cast<schedule::MicroBatch>(count));
    std::vector<Program> programs(problem.places.size());
    for (const auto& places : layout.places) {
      programs[static_cast<std::size_t>(places.front())] = program;
    }
    schedule::ScheduleBuilder builder(
        pipeline_outline(gpipe_keyword, problem, layout, micro_batches, {}, Accumulation::done));
    add_programs(builder, layout, programs);
    return std::move(builder).build();
  }

  train::PolicyOptions decisions(const plan::Problem& problem,
                                 const schedule::Schedule& made) const override {
    return stage_decisions(problem, made, options_.stages);
  }

  std::vector<train::PolicyOptions> candidates(const plan::Problem& problem,
                                               const plan::Profile* /*profile*/) const override {
    auto found = micro_batches_to_try(problem, 2);
    found.push_back({{"recompute", "always"}});
    return found;
  }

 private:
  Program all_forward_then_all_backward(schedule::MicroBatch count) const {
    Program program;
    for (schedule::MicroBatch micro_batch = 0; micro_batch < count; ++micro_batch) {
      const bool last = micro_batch == count - 1;
      program.push_back(
          forward_of(micro_batch, options_.recompute == Recompute::never ||
                                      (options_.recompute == Recompute::except_last && last)));
    }
    for (schedule::MicroBatch micro_batch = 0; micro_batch < count; ++micro_batch) {
      program.push_back(backward_of(micro_batch));
    }
    program.push_back(update_now());
    return program;
  }

  GpipeOptions options_;
};

Recompute recompute_named(const std::string& word) {
  return word == "always"        ? Recompute::always
         : word == "except_last" ? Recompute::except_last
                                 : Recompute::never;
}

}  // namespace

train::PolicyPtr gpipe(GpipeOptions options) { return std::make_shared<Gpipe>(std::move(options)); }

train::PolicyEntry gpipe_entry() {
  deck::Schema schema(gpipe_keyword,
                      "Pipeline parallelism: micro-batches go through the stages, all forward "
                      "passes, then all backward passes.");
  schema
      .integer(
          "micro_batches",
          "Micro-batches: parts of the batch that are on their way at once; more of them leave "
          "less idle time, and less work for each kernel. Default: train.accumulate, or else 8.")
      .at_least(1)
      .optional()
      .example("8");
  schema
      .choice("recompute", {"never", "except_last", "always"},
              "Activation recomputation: whether activations are kept for backward or computed "
              "once more, for which micro-batches. It saves memory, costs a second forward and "
              "changes no bit.")
      .fallback("never");
  add_stage_keys(schema);
  return {schema, [](const deck::Section& section) {
            return gpipe({micro_batches_option(section), recompute_named(section.text("recompute")),
                          stage_options(section)});
          }};
}

}  // namespace zygos::policies
