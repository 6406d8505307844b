// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// An engine whose activations are bf16: what is stored how, how far its gradient is from that of
// floats, and that it keeps the promises that engines make.
#include "policy_models.hpp"
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace zygos::test_precision {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::CutModel;
using test::Names;
using test::SmallRun;

std::vector<lane::LaneSpec> places(int count) {
  std::vector<lane::LaneSpec> specs{test::host_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name += std::to_string(i);
  }
  return specs;
}

struct Result {
  std::vector<double> gradient;
  std::vector<double> weights;
  double loss = 0.0;
};

Result steps_of(const graph::Graph& model, const train::PolicyPtr& policy, int lanes, DType type,
                std::uint64_t steps, std::int64_t chunk = 0, std::size_t samples = 40) {
  SmallRun run(places(lanes), type);
  run.use(model);
  run.ids.resize(samples);
  auto problem = run.problem();
  problem.chunk = chunk;
  const auto engine = run.engine(policy->schedule(problem, nullptr));
  Result result;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    result.loss = engine->step(run.batch(), step).loss;
  }
  result.gradient = engine->gradient();
  result.weights = engine->weights();
  return result;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

std::size_t bytes_of(const train::Engine& engine, memory::Category category) {
  std::size_t bytes = 0;
  for (const train::LaneUsage& lane : engine.memory()) {
    bytes += lane.usage[category];
  }
  return bytes;
}

/// Token ids that bf16 does not have: odd ones above 256.
struct Tokens {
  static constexpr std::int64_t samples = 8;
  static constexpr std::int64_t length = 3;
  std::vector<float> ids;
  std::vector<std::int32_t> labels;

  Tokens() {
    for (std::int64_t i = 0; i < samples * length; ++i) {
      ids.push_back(static_cast<float>(257 + 2 * (i % 7)));
    }
    for (std::int64_t i = 0; i < samples; ++i) {
      labels.push_back(static_cast<std::int32_t>(i % 3));
    }
  }
};

graph::Graph token_model() {
  graph::Graph graph(Shape{Tokens::length}, nn::cross_entropy());
  graph.add("tokens", nn::embedding({.vocabulary = 300, .units = 4}));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

}  // namespace

TEST_CASE("Weights, their gradients and what an optimizer keeps stay floats beside bf16",
          "[train][bf16]") {
  SmallRun run(places(1), DType::bf16);
  const auto engine = run.engine(run.schedule_of(policies::single({})));
  engine->step(run.batch(), 1);

  for (const io::TensorRef& ref : engine->snapshot()) {
    CHECK(ref.dtype == DType::f32);
  }
  // They are not rounded to bf16 between steps.
  bool finer = false;
  for (const double weight : engine->weights()) {
    finer = finer || double{bf16(weight)} != weight;
  }
  CHECK(finer);
  // And the prediction is.
  for (const double value : engine->prediction(0)) {
    CHECK(double{bf16(value)} == value);
  }
}

TEST_CASE("Activations and messages of bf16 take half the bytes of floats, weights the same",
          "[train][bf16]") {
  const auto usage = [](DType type, memory::Category category) {
    SmallRun run(places(2), type);
    run.use(test::wide_model());
    const auto engine = run.engine(run.schedule_of(
        policies::gpipe({.micro_batches = 4, .stages = {.cuts = {"drop"}, .lanes = {}}})));
    return bytes_of(*engine, category);
  };
  using memory::Category;
  const auto ratio = [&](Category category) {
    return static_cast<double>(usage(DType::bf16, category)) /
           static_cast<double>(usage(DType::f32, category));
  };

  CHECK(ratio(Category::weights) == 1.0);
  CHECK(ratio(Category::gradients) == 1.0);
  CHECK(ratio(Category::optimizer_state) == 1.0);
  CHECK(ratio(Category::activations) < 0.55);
  CHECK(ratio(Category::communication) < 0.55);
  CHECK(ratio(Category::workspace) < 0.6);
}

// Outputs of sigmoids differ little beside how large they are: there a rounding takes more of what
// they say.
TEST_CASE("The gradient with bf16 is that of floats to 2 %, through sigmoids to 10 %",
          "[train][bf16]") {
  for (const CutModel& model : test::bf16_cut_models()) {
    CAPTURE(model.name);
    const double bound = model.name == "images" ? 0.1 : 0.02;
    const Result narrow = steps_of(model.graph, policies::single({}), 1, DType::bf16, 1);
    const Result wide_one = steps_of(model.graph, policies::single({}), 1, DType::f32, 1);

    CHECK(distance(narrow.gradient, wide_one.gradient) <= bound);
    CHECK(distance(narrow.gradient, wide_one.gradient) > 1e-5);
    CHECK(std::abs(narrow.loss - wide_one.loss) <= 0.01 * wide_one.loss);
  }
}

TEST_CASE("In strict mode no policy changes a bit with bf16", "[train][bf16]") {
  using policies::Exchange;
  for (const CutModel& model : test::bf16_cut_models()) {
    const policies::StageOptions two{.cuts = model.two, .lanes = {}};
    const policies::StageOptions three{.cuts = model.three, .lanes = {}};
    for (const std::size_t samples : {40U, 27U}) {
      const Result whole =
          steps_of(model.graph, policies::single({}), 1, DType::bf16, 3, 5, samples);
      const auto check = [&](const std::string& name, const train::PolicyPtr& policy, int lanes) {
        CAPTURE(model.name, name, samples);
        const Result found = steps_of(model.graph, policy, lanes, DType::bf16, 3, 5, samples);
        CHECK(found.gradient == whole.gradient);
        CHECK(found.weights == whole.weights);
      };
      check("coarse_split", policies::coarse_split({.share = {}, .samples = 15}), 2);
      check("layer_placement", policies::layer_placement({.stages = two}), 2);
      check("gpipe, recomputing",
            policies::gpipe(
                {.micro_batches = 4, .recompute = policies::Recompute::always, .stages = three}),
            3);
      check("one_f_one_b", policies::one_f_one_b({.micro_batches = 4, .stages = three}), 3);
      check("hippie", policies::hippie({.replicas = 2, .micro_batches = 2, .stages = two}), 3);
      check("chunked broadcast",
            policies::data_parallel(
                {.exchange = Exchange::chunked_broadcast, .shares = {}, .chunks = 3}),
            3);
      check("data_parallel",
            policies::data_parallel(
                {.exchange = Exchange::all_reduce, .shares = {}, .bucket_bytes = 500}),
            3);
    }
  }
}

TEST_CASE("A run with bf16 goes on from its state to the same bits", "[train][bf16]") {
  const auto made = [](SmallRun& run) { return run.engine(run.split(15)); };
  SmallRun first(places(2), DType::bf16);
  const auto whole = made(first);
  for (std::uint64_t step = 1; step <= 6; ++step) {
    whole->step(first.batch(), step);
  }
  SmallRun second(places(2), DType::bf16);
  io::Checkpoint saved;
  {
    const auto before = made(second);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      before->step(second.batch(), step);
    }
    saved = test::saved_state(*before);
  }
  const auto after = made(second);
  after->restore(saved);
  for (std::uint64_t step = 4; step <= 6; ++step) {
    after->step(second.batch(), step);
  }

  CHECK(after->weights_hash() == whole->weights_hash());
}

TEST_CASE("Token ids stay exact beside bf16", "[train][bf16]") {
  const Tokens tokens;
  const auto run_with = [&](DType type) {
    SmallRun run(places(1), type);
    run.graph = token_model();
    run.data.inputs = io::make_array<float>(Shape{Tokens::samples, Tokens::length}, tokens.ids);
    run.data.targets = io::make_array<std::int32_t>(Shape{Tokens::samples}, tokens.labels);
    run.rows = io::rows_of(run.data);
    run.ids = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto engine = run.engine(run.schedule_of(policies::single({})));
    engine->step(run.batch(), 1);
    return engine->gradient();
  };
  const auto narrow = run_with(DType::bf16);
  const auto exact = run_with(DType::f32);

  // The same rows of the table were met.
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    CHECK((narrow[i] == 0.0) == (exact[i] == 0.0));
  }
  CHECK(token_model().input_dtype(DType::bf16) == DType::f32);
  CHECK(test::small_model().input_dtype(DType::bf16) == DType::bf16);
}

namespace {

/// A layer of somebody who does not know of bf16.
class OldLayer final : public nn::Layer {
 public:
  std::string_view type() const override { return "old"; }
  Shape infer(std::span<const Shape> inputs) const override { return inputs.front(); }
  nn::Cost forward_cost(std::int64_t, std::span<const Shape>, DType) const override { return {}; }
  nn::Cost backward_cost(std::int64_t, std::span<const Shape>, DType, bool) const override {
    return {};
  }
  void forward(const nn::Context&, const nn::ForwardArgs&) const override {}
  void backward(const nn::Context&, const nn::BackwardArgs&) const override {}
};

}  // namespace

TEST_CASE("A layer that does not say that it takes bf16 is refused by name", "[train][bf16]") {
  SmallRun run(places(1), DType::bf16);
  run.graph = test::small_model();
  run.graph.add("mine", std::make_shared<OldLayer>());

  CHECK_THROWS_WITH(run.engine(run.schedule_of(policies::single({}))),
                    ContainsSubstring("layer 'mine': layers of type 'old' have no bf16 yet"));
  CHECK_NOTHROW(run.graph.require_precision(DType::f32));
  CHECK_NOTHROW(run.graph.require_precision(DType::f64));
}

namespace {

/// Passes everything on, and notes whether products may be TF32.
class Listener final : public nn::Layer {
 public:
  std::string_view type() const override { return "listener"; }
  Shape infer(std::span<const Shape> inputs) const override { return inputs.front(); }
  nn::Cost forward_cost(std::int64_t, std::span<const Shape>, DType) const override { return {}; }
  nn::Cost backward_cost(std::int64_t, std::span<const Shape>, DType, bool) const override {
    return {};
  }
  void forward(const nn::Context& context, const nn::ForwardArgs& args) const override {
    forwards.push_back(context.tf32);
    std::memcpy(args.output.raw(), args.inputs[0].raw(), args.output.bytes());
  }
  void backward(const nn::Context& context, const nn::BackwardArgs& args) const override {
    backwards.push_back(context.tf32);
    if (args.d_inputs[0]) {
      std::memcpy(args.d_inputs[0].raw(), args.d_output.raw(), args.d_output.bytes());
    }
  }

  mutable std::vector<bool> forwards;
  mutable std::vector<bool> backwards;
};

/// A step on one host lane.
std::vector<double> weights_after_step(bool tf32, const std::shared_ptr<Listener>& listener) {
  SmallRun run(places(1), DType::f32);
  run.graph = graph::Graph(Shape{10}, nn::cross_entropy());
  run.graph.add("fc1", test::tanh_layer(9));
  run.graph.add("listener", listener);
  run.graph.add("fc2", nn::dense({.units = 3}));
  run.options.tf32 = tf32;
  const auto engine = run.engine(run.schedule_of(policies::single({})));
  engine->step(run.batch(), 1);
  return engine->weights();
}

}  // namespace

TEST_CASE("Layers are told of tf32 in both passes, and a host computes as without it", "[train]") {
  const auto full = std::make_shared<Listener>();
  const auto rounded = std::make_shared<Listener>();

  const auto exact = weights_after_step(false, full);
  const auto same = weights_after_step(true, rounded);

  CHECK(full->forwards == std::vector<bool>{false});
  CHECK(full->backwards == std::vector<bool>{false});
  CHECK(rounded->forwards == std::vector<bool>{true});
  CHECK(rounded->backwards == std::vector<bool>{true});
  CHECK_FALSE(exact.empty());
  CHECK(exact == same);
}

TEST_CASE("A layer that takes token ids for numbers is refused beside bf16", "[train][bf16]") {
  graph::Graph graph(Shape{Tokens::length}, nn::cross_entropy());
  graph.add("tokens", nn::embedding({.vocabulary = 300, .units = 4}));
  graph.add("flat", nn::flatten());
  graph.add("numbers", nn::dense({.units = 12}), Names{"input"});
  graph.add("both", nn::concat(), Names{"flat", "numbers"});

  CHECK_THROWS_WITH(graph.require_precision(DType::bf16),
                    ContainsSubstring("layer 'numbers': it reads the model's input, which holds"));
  CHECK_NOTHROW(graph.require_precision(DType::f32));
}

}  // namespace zygos::test_precision
