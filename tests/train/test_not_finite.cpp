// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whatever is not finite, in any layer, forward or backward, under any policy, ends the step in
// which it arises, with the layer's name.
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace zygos::test_not_finite {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::SmallRun;

constexpr std::uint64_t bad_step = 3;
enum class Where { forward, backward };

/// Passes everything on, but in one step what one sample, or all have, is no number.
class Poison final : public nn::Layer {
 public:
  Poison(Where where, bool all) : where_(where), all_(all) {}
  std::string_view type() const override { return "poison"; }
  Shape infer(std::span<const Shape> inputs) const override { return inputs.front(); }
  nn::Cost forward_cost(std::int64_t, std::span<const Shape>, DType) const override { return {}; }
  nn::Cost backward_cost(std::int64_t, std::span<const Shape>, DType, bool) const override {
    return {};
  }
  void forward(const nn::Context& context, const nn::ForwardArgs& args) const override {
    pass(context, args.inputs[0], args.output, Where::forward);
  }
  void backward(const nn::Context& context, const nn::BackwardArgs& args) const override {
    if (args.d_inputs[0]) {
      pass(context, args.d_output, args.d_inputs[0], Where::backward);
    }
  }

 private:
  void pass(const nn::Context& context, const Tensor& from, const Tensor& to, Where where) const {
    std::memcpy(to.raw(), from.raw(), to.bytes());
    const auto* ids = context.sample_ids.data<std::uint32_t>();
    const std::int64_t width = to.size() / context.sample_ids.size();
    for (std::int64_t i = 0; i < to.size(); ++i) {
      const bool chosen = all_ || ids[i / width] == 7;
      if (context.step == bad_step && where == where_ && chosen) {
        to.data<double>()[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }

  Where where_;
  bool all_;
};

nn::LayerPtr poison(Where where, bool all = false) { return std::make_shared<Poison>(where, all); }

std::vector<train::PolicyPtr> every_policy() {
  std::vector<train::PolicyPtr> all{
      policies::single({.place = "device"}),
      policies::coarse_split({.share = {}, .samples = 13}),
      policies::layer_placement({}),
      policies::gpipe({.micro_batches = 8, .stages = {}}),
      policies::gpipe({.micro_batches = 8, .recompute = policies::Recompute::always, .stages = {}}),
      policies::one_f_one_b({.micro_batches = 8, .stages = {}}),
      policies::one_f_one_b({.micro_batches = 8, .recompute = true, .stages = {}}),
      policies::hippie({.replicas = 2, .micro_batches = 4, .stages = {}}),
      policies::data_parallel(
          {.exchange = policies::Exchange::chunked_broadcast, .shares = {}, .chunks = 2}),
      policies::pipedream({.micro_batches = 4, .replicas = {}, .stages = {}}),
      policies::pipedream_2bw({.updates = 2, .accumulate = 2, .stages = {}})};
  for (const auto which : {policies::Exchange::ring, policies::Exchange::sharded,
                           policies::Exchange::all_reduce, policies::Exchange::central}) {
    all.push_back(policies::data_parallel({.exchange = which, .shares = {}}));
  }
  return all;
}

/// What the third step says, after two good ones.
std::string told_by(train::Engine& engine, const SmallRun& run) {
  CHECK_NOTHROW(engine.step(run.batch(), 1));
  CHECK_NOTHROW(engine.step(run.batch(), 2));
  try {
    engine.step(run.batch(), bad_step);
  } catch (const NumericError& error) {
    return error.what();
  }
  return "nothing";
}

graph::Graph poisoned_in_the_middle(Where where) {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", test::tanh_layer(9));
  graph.add("fc2", test::tanh_layer(9));
  graph.add("drop", nn::dropout(0.25));
  graph.add("poison", poison(where));
  graph.add("fc3", test::tanh_layer(9));
  graph.add("fc4", nn::dense({.units = 3}));
  return graph;
}

struct LayerCase {
  Shape input;
  nn::LayerPtr layer;
};

/// Every kind of layer that reads what another has computed.
std::vector<LayerCase> kinds_of_layers() {
  using nn::Activation;
  const Shape image{2, 6, 6};
  std::vector<LayerCase> all{
      {Shape{12}, nn::dense({.units = 5, .activation = Activation::relu})},
      {image, nn::conv2d({.filters = 3, .kernel = {3, 3}, .activation = Activation::relu})},
      {image, nn::conv_transpose2d({{.filters = 3, .kernel = {2, 2}, .stride = {2, 2}}, {0, 0}})},
      {image, nn::max_pool2d({.kernel = {2, 2}, .stride = {2, 2}})},
      {image, nn::average_pool2d({.kernel = {2, 2}, .stride = {2, 2}})},
      {image, nn::upsample({})},
      {image, nn::flatten()},
      {Shape{12}, nn::leaky_relu()},
      {Shape{12}, nn::silu()},
      {Shape{12}, nn::gelu_tanh()},
      {Shape{12}, nn::dropout(0.2)},
      {Shape{12}, nn::layer_norm()},
      {image, nn::group_norm(2)},
      {image, nn::batch_norm({.group = 5})},
      {image, nn::lrn({})},
      {Shape{4, 12}, nn::positions()},
      {Shape{4, 12}, nn::class_token()},
      {Shape{4, 12}, nn::select(-1)},
      {Shape{4, 12}, nn::attention({.heads = 2})},
      {Shape{4, 12}, nn::causal_attention({.heads = 2})},
      {Shape{4, 12}, nn::lstm({.units = 5})},
      {Shape{4, 12}, nn::gru({.units = 5, .sequences = false})},
      {image, nn::transpose()}};
  for (const Activation which :
       {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
    all.push_back({Shape{12}, nn::activation(which)});
  }
  return all;
}

}  // namespace

TEST_CASE("What a layer computes is found in the same step, and named, under every policy",
          "[train][finite]") {
  for (const auto& policy : every_policy()) {
    SmallRun run(test::host_and_device());
    run.use(poisoned_in_the_middle(Where::forward));
    const auto engine = run.engine(run.schedule_of(policy));
    CAPTURE(policy->keyword());
    const std::string told = told_by(*engine, run);
    CHECK_THAT(told, ContainsSubstring("step 3") && ContainsSubstring("the first layer") &&
                         ContainsSubstring("'poison' on lane '"));
    CHECK_THROWS_AS(engine->step(run.batch(), 4), InternalError);
  }
}

TEST_CASE(
    "A gradient is found in the same step, with the last layer that has it, under every policy",
    "[train][finite]") {
  for (const auto& policy : every_policy()) {
    SmallRun run(test::host_and_device());
    run.use(poisoned_in_the_middle(Where::backward));
    const auto engine = run.engine(run.schedule_of(policy));
    CAPTURE(policy->keyword());
    const std::string told = told_by(*engine, run);
    CHECK_THAT(told, ContainsSubstring("step 3"));
    CHECK_THAT(told, ContainsSubstring("gradient") && ContainsSubstring("not finite"));
    // Where a step has several updates the gradient at its end is another one.
    if (engine->schedule().updates.size() == 1) {
      CHECK_THAT(told, ContainsSubstring("'fc2' on lane '"));
    }
  }
}

TEST_CASE("After a step that was not finite the state before it goes on", "[train][finite]") {
  for (const Where where : {Where::forward, Where::backward}) {
    SmallRun run(test::host_and_device());
    run.use(poisoned_in_the_middle(where));
    const auto engine = run.engine(run.schedule_of(policies::gpipe({.stages = {}})));
    engine->step(run.batch(), 1);
    const auto saved = test::saved_state(*engine);
    CHECK_THROWS_AS(engine->step(run.batch(), bad_step), NumericError);
    engine->restore(saved);
    CHECK_NOTHROW(engine->step(run.batch(), 2));
    CHECK_NOTHROW(engine->snapshot());
  }
}

TEST_CASE("No kind of layer hides what is not finite, neither forward nor backward",
          "[train][finite]") {
  for (const Where where : {Where::forward, Where::backward}) {
    for (const LayerCase& one : kinds_of_layers()) {
      SmallRun run(test::host_and_device(), DType::f64, 40);
      graph::Graph graph(Shape{10}, nn::cross_entropy());
      graph.add("before", nn::dense({.units = one.input.size()}));
      graph.add("shaped", nn::reshape(one.input.dimensions()));
      if (where == Where::forward) {
        graph.add("poison", poison(where, true));
      }
      const graph::NodeId tested = graph.add("tested", one.layer);
      if (where == Where::backward) {
        graph.add("poison", poison(where, true));
      }
      graph.add("after", nn::dense({.units = 3}));
      run.use(graph);
      const auto engine = run.engine(run.split(20));
      CAPTURE(one.layer->type());
      const std::string told = told_by(*engine, run);
      const bool trained = !graph.parameters_of(tested).empty();
      CHECK_THAT(told, ContainsSubstring(where == Where::forward ? "'poison'"
                                         : trained               ? "'tested'"
                                                                 : "'before'"));
    }
  }
}

TEST_CASE("A learning rate without measure is found when the numbers have grown too large",
          "[train][finite]") {
  for (const auto& policy : {policies::single({.place = "host"}), policies::gpipe({.stages = {}}),
                             policies::data_parallel({.shares = {}})}) {
    SmallRun run(test::host_and_device(), DType::f32);
    run.graph = test::wide_model();
    run.optimizer = nn::sgd({.learning_rate = 1e20});
    const auto engine = run.engine(run.schedule_of(policy));
    const auto train = [&] {
      for (std::uint64_t step = 1; step <= 20; ++step) {
        engine->step(run.batch(), step);
      }
    };
    CHECK_THROWS_WITH(train(), ContainsSubstring("layer"));
  }
}

}  // namespace zygos::test_not_finite
