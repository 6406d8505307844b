// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor parallelism in the engine: a pair of dense layers that is cut between lanes computes what
// the whole layers do, and all that is seen from outside is of the whole layers.
#include "small_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace zygos::test_slices {
namespace {

using Catch::Matchers::WithinRel;
using test::SmallRun;

std::vector<lane::LaneSpec> lanes(int count) {
  std::vector<lane::LaneSpec> specs{test::host_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(test::emulated_lane());
    specs.back().name += std::to_string(i);
  }
  return specs;
}

/// Fused and separate activations, dropout and statistics in the rest.
graph::Graph mlp() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", test::tanh_layer(17));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("fc2", test::tanh_layer(9));
  graph.add("drop", nn::dropout(0.25));
  graph.add("normal", nn::batch_norm());
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// Two blocks with layers before, between and behind them; what the first block reads goes on
/// beside it, too.
graph::Graph two_blocks() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("in", test::tanh_layer(8));
  graph.add("normal", nn::layer_norm());
  graph.add("fc1", nn::dense({.units = 17}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("fc2", test::tanh_layer(8));
  graph.add("skip", nn::add(), std::vector<std::string>{"fc2", "in"});
  graph.add("drop", nn::dropout(0.25));
  graph.add("fc3", test::tanh_layer(6));
  graph.add("fc4", nn::dense({.units = 5, .bias = false}));
  graph.add("batch", nn::batch_norm());
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// A GPT's block with dropout wherever there can be any. Four heads of two columns.
graph::Graph gpt_block(const nn::LayerPtr& attention = nn::causal_attention({.heads = 4,
                                                                             .dropout = 0.25})) {
  const auto dense = [](std::int64_t units) {
    return nn::dense({.units = units, .flatten = false});
  };
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("in", test::tanh_layer(40));
  graph.add("tokens", nn::reshape(std::vector<std::int64_t>{5, 8}));
  graph.add("normal1", nn::layer_norm());
  graph.add("qkv", dense(24));
  graph.add("attention", attention);
  graph.add("projection", dense(8));
  graph.add("drop1", nn::dropout(0.25));
  graph.add("attended", nn::add(), std::vector<std::string>{"drop1", "tokens"});
  graph.add("normal2", nn::layer_norm());
  graph.add("fc1", dense(19));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("fc2", dense(8));
  graph.add("drop2", nn::dropout(0.25));
  graph.add("sum", nn::add(), std::vector<std::string>{"drop2", "attended"});
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// The same of an encoder.
graph::Graph encoder_block() { return gpt_block(nn::attention({.heads = 4, .dropout = 0.25})); }

/// A pair of convolutions, and one whose channels are rows of a dense layer.
graph::Graph convolutions() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("in", test::tanh_layer(72));
  graph.add("image", nn::reshape(std::vector<std::int64_t>{2, 6, 6}));
  graph.add(
      "conv1",
      nn::conv2d(
          {.filters = 5, .kernel = {3, 3}, .padding = {1, 1}, .activation = nn::Activation::tanh}));
  graph.add("normal", nn::batch_norm());
  graph.add("pool1", nn::average_pool2d({.kernel = {2, 2}, .stride = {1, 1}}));
  graph.add("conv2",
            nn::conv2d({.filters = 4, .kernel = {2, 2}, .activation = nn::Activation::tanh}));
  graph.add("drop", nn::dropout(0.25));
  graph.add("conv3", nn::conv2d({.filters = 7, .kernel = {3, 3}, .padding = {1, 1}}));
  graph.add("pool2", nn::max_pool2d({.kernel = {2, 2}, .stride = {2, 2}}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("flat", nn::flatten());
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// Dropout within blocks: of the tokens' units, of channels and of rows.
graph::Graph dropped_slices() {
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("in", test::tanh_layer(40));
  graph.add("tokens", nn::reshape(std::vector<std::int64_t>{5, 8}));
  graph.add("fc1", nn::dense({.units = 19, .flatten = false}));
  graph.add("gelu", nn::activation(nn::Activation::gelu));
  graph.add("drop1", nn::dropout(0.25));
  graph.add("fc2", nn::dense({.units = 8, .flatten = false}));
  graph.add("image", nn::reshape(std::vector<std::int64_t>{2, 4, 5}));
  graph.add("conv1", nn::conv2d({.filters = 5, .kernel = {3, 3}, .padding = {1, 1}}));
  graph.add("drop2", nn::dropout(0.25));
  graph.add("conv2", nn::conv2d({.filters = 4, .kernel = {2, 2}}));
  graph.add("conv3", nn::conv2d({.filters = 7, .kernel = {2, 2}}));
  graph.add("flat", nn::flatten());
  graph.add("drop3", nn::dropout(0.25));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

/// Convolutions that are copied, and a block with dropout that is cut.
graph::Graph copied_and_cut() {
  graph::Graph graph(Shape{2, 6, 6}, nn::cross_entropy());
  graph.add(
      "conv",
      nn::conv2d(
          {.filters = 3, .kernel = {3, 3}, .padding = {1, 1}, .activation = nn::Activation::tanh}));
  graph.add("drop1", nn::dropout(0.25));
  graph.add("pool", nn::average_pool2d({.kernel = {2, 2}, .stride = {2, 2}}));
  graph.add("fc1", test::tanh_layer(17));
  graph.add("drop2", nn::dropout(0.25));
  graph.add("fc2", test::tanh_layer(9));
  graph.add("drop3", nn::dropout(0.25));
  graph.add("out", nn::dense({.units = 3}));
  return graph;
}

train::PolicyPtr pair(std::vector<double> shares = {}) {
  return policies::tensor_parallel({.shares = std::move(shares), .lanes = {}});
}

/// Norm of the difference over the norm.
double difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(sum / norm);
}

struct Result {
  std::vector<double> gradient;
  std::vector<double> weights;
  double loss = 0.0;
};

Result steps(SmallRun& run, train::Engine& engine, std::uint64_t from, std::uint64_t to) {
  Result result;
  for (std::uint64_t step = from; step <= to; ++step) {
    result.loss = engine.step(run.batch(), step).loss;
  }
  result.gradient = engine.gradient();
  result.weights = engine.weights();
  return result;
}

Result three_steps(const train::PolicyPtr& policy, int count, DType dtype,
                   const graph::Graph& model, const nn::OptimizerPtr& optimizer) {
  SmallRun run(lanes(count), dtype);
  run.optimizer = optimizer;
  run.use(model);
  const auto engine = run.engine(run.schedule_of(policy));
  return steps(run, *engine, 1, 3);
}

void same_result(const Result& found, const Result& expected, double tolerance) {
  CHECK_THAT(found.loss, WithinRel(expected.loss, tolerance));
  CHECK(difference(found.gradient, expected.gradient) < tolerance);
  CHECK(difference(found.weights, expected.weights) < tolerance);
}

}  // namespace

TEST_CASE("A pair cut between lanes trains as the whole layers do", "[train][shards]") {
  const auto sgd = nn::sgd({.learning_rate = 0.1, .momentum = 0.9});
  const auto single = policies::single({});
  for (const auto& optimizer : {sgd, nn::clipped(sgd, 0.01)}) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      const double tolerance = dtype == DType::f64 ? 1e-12 : 1e-5;
      const Result whole = three_steps(single, 1, dtype, mlp(), optimizer);
      for (const auto& [count, shares] : std::vector<std::pair<int, std::vector<double>>>{
               {2, {}}, {2, {1.0, 16.0}}, {2, {5.0, 1.0}}, {3, {2.0, 3.0, 4.0}}}) {
        CAPTURE(count, shares, name_of(dtype));
        same_result(three_steps(pair(shares), count, dtype, mlp(), optimizer), whole, tolerance);
      }
    }
  }
}

TEST_CASE("Every block of a model cut between lanes trains as the whole layers do",
          "[train][shards]") {
  const auto sgd = nn::sgd({.learning_rate = 0.1, .momentum = 0.9});
  for (const graph::Graph& model :
       {two_blocks(), gpt_block(), encoder_block(), convolutions(), dropped_slices()}) {
    for (const auto& optimizer : {sgd, nn::clipped(sgd, 0.01)}) {
      const Result whole = three_steps(policies::single({}), 1, DType::f64, model, optimizer);
      for (const auto& [count, shares] : std::vector<std::pair<int, std::vector<double>>>{
               {2, {}}, {2, {1.0, 4.0}}, {4, {2.0, 1.0, 1.0, 2.0}}}) {
        CAPTURE(model.nodes()[3].name, count, shares);
        same_result(three_steps(pair(shares), count, DType::f64, model, optimizer), whole, 1e-12);
      }
    }
  }
}

TEST_CASE("Copied first layers and a cut block behind them train as the whole layers do",
          "[train][shards]") {
  const auto sgd = nn::sgd({.learning_rate = 0.1, .momentum = 0.9});
  const Result whole = three_steps(policies::single({}), 1, DType::f64, copied_and_cut(), sgd);
  for (const int count : {2, 3, 4}) {
    for (const std::int64_t turns : {1, 3}) {
      CAPTURE(count, turns);
      using Exchange = policies::HybridConvFcOptions::Exchange;
      for (const auto exchange : {Exchange::in_turns, Exchange::all_gather}) {
        const auto hybrid = policies::hybrid_conv_fc(
            {.cut_from = "fc1", .turns = turns, .lanes = {}, .exchange = exchange});
        same_result(three_steps(hybrid, count, DType::f64, copied_and_cut(), sgd), whole, 1e-12);
      }
    }
  }
}

TEST_CASE("A run of several blocks is restored to the same bits, sharded otherwise to rounding",
          "[train][shards]") {
  for (const graph::Graph& model : {two_blocks(), gpt_block(), convolutions()}) {
    SmallRun run(lanes(3));
    run.use(model);
    const auto halves = policies::tensor_parallel({.shares = {}, .lanes = {"host", "device1"}});
    const auto first = run.engine(run.schedule_of(halves));
    static_cast<void>(steps(run, *first, 1, 2));
    const io::Checkpoint saved = test::saved_state(*first);
    const Result expected = steps(run, *first, 3, 5);
    const auto second = run.engine(run.schedule_of(halves));
    second->restore(saved);
    static_cast<void>(steps(run, *second, 3, 5));
    CHECK(second->weights_hash() == first->weights_hash());
    for (const auto& policy : {pair(), pair({1.0, 3.0, 2.0}), policies::single({})}) {
      const auto other = run.engine(run.schedule_of(policy));
      other->restore(saved);
      same_result(steps(run, *other, 3, 5), expected, 1e-9);
    }
  }
}

TEST_CASE("Memory of a lane with several places is what all of them were planned to have",
          "[train][shards]") {
  const std::vector<graph::Graph> models{two_blocks(), gpt_block(), convolutions()};
  SmallRun run(lanes(2));
  run.use(models[GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2})]);
  const auto schedule = run.schedule_of(pair());
  const auto planned = plan::lane_memory(
      schedule, plan::plan_memory({run.graph, *run.optimizer, DType::f64, {}}, schedule));
  const auto engine = run.engine(schedule);
  static_cast<void>(engine->step(run.batch(), 1));

  REQUIRE(planned.size() == 2);
  std::size_t lanes_seen = 0;
  for (const train::LaneUsage& usage : engine->memory()) {
    for (std::size_t lane = 0; lane < 2; ++lane) {
      if (usage.lane == run.lanes[lane].name()) {
        ++lanes_seen;
        CHECK(usage.bytes == planned[lane].lane.total());
        CHECK(usage.used.total() <= usage.bytes);
        CHECK(usage.used.total() > usage.bytes / 2);
      }
    }
  }
  CHECK(lanes_seen == 2);
}

TEST_CASE("A pair of vectors without biases trains as the whole layers do", "[train][shards]") {
  graph::Graph graph(Shape{2, 5}, nn::cross_entropy());
  graph.add("up", nn::dense({.units = 12, .bias = false, .flatten = false}));
  graph.add("slope", nn::leaky_relu(0.1));
  graph.add("down", nn::dense({.units = 6, .bias = false, .flatten = false}));
  graph.add("out", nn::dense({.units = 3}));

  same_result(three_steps(pair({1.0, 2.0}), 2, DType::f64, graph, nn::adam({})),
              three_steps(policies::single({}), 1, DType::f64, graph, nn::adam({})), 1e-9);
}

TEST_CASE("The gradient of a sharded pair is that of finite differences", "[train][shards]") {
  SmallRun run(lanes(2));
  graph::Graph plain(Shape{10}, nn::cross_entropy());
  plain.add("fc1", test::tanh_layer(7));
  plain.add("fc2", test::tanh_layer(4));
  plain.add("out", nn::dense({.units = 3}));
  run.use(plain);
  const auto engine = run.engine(run.schedule_of(pair({2.0, 5.0})));
  const io::Checkpoint saved = test::saved_state(*engine);
  static_cast<void>(engine->step(run.batch(), 1));
  const std::vector<double> gradient = engine->gradient();

  const auto loss_with = [&](std::size_t tensor, std::size_t element, double change) {
    io::Checkpoint changed = saved;
    reinterpret_cast<double*>(changed.tensors[tensor].bytes.data())[element] += change;
    engine->restore(changed);
    return engine->evaluate(run.batch()).loss;
  };
  constexpr double step = 1e-5;
  for (std::size_t i = 0; i < run.graph.parameters().size(); ++i) {
    const graph::Parameter& parameter = run.graph.parameters()[i];
    for (std::int64_t element = 0; element < parameter.shape.size(); ++element) {
      const auto index = static_cast<std::size_t>(element);
      const double slope = (loss_with(i, index, step) - loss_with(i, index, -step)) / (2.0 * step);
      CAPTURE(parameter.name, element);
      CHECK(std::abs(gradient[static_cast<std::size_t>(parameter.offset) + index] - slope) < 1e-9);
    }
  }
}

TEST_CASE("Initial weights, names and shapes are those of the whole layers", "[train][shards]") {
  SmallRun whole(lanes(1));
  SmallRun shards(lanes(2));
  whole.use(mlp());
  shards.use(mlp());
  const auto one = whole.engine(whole.schedule_of(policies::single({})));
  const auto two = shards.engine(shards.schedule_of(pair({3.0, 2.0})));

  CHECK(two->weights_hash() == one->weights_hash());
  CHECK(two->weights() == one->weights());
  const auto expected = one->snapshot();
  const auto found = two->snapshot();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].name == expected[i].name);
    CHECK(found[i].shape == expected[i].shape);
  }
}

TEST_CASE("A run goes on unsharded from a sharded checkpoint and the other way",
          "[train][shards]") {
  const auto policy_of = [](bool sharded) {
    return sharded ? pair({1.0, 3.0}) : policies::single({});
  };
  SmallRun undisturbed(lanes(1));
  undisturbed.use(mlp());
  const auto alone = undisturbed.engine(undisturbed.schedule_of(policies::single({})));
  const Result expected = steps(undisturbed, *alone, 1, 6);
  for (const bool first : {true, false}) {
    SmallRun run(lanes(2));
    run.use(mlp());
    const auto before = run.engine(run.schedule_of(policy_of(first)));
    static_cast<void>(steps(run, *before, 1, 3));
    const io::Checkpoint saved = test::saved_state(*before);
    const auto after = run.engine(run.schedule_of(policy_of(!first)));
    after->restore(saved);

    CHECK(after->weights_hash() == before->weights_hash());
    // Adam divides by the root of a second moment, which makes rounding errors larger.
    same_result(steps(run, *after, 4, 6), expected, 1e-9);
  }
}

TEST_CASE("A sharded run that is restored goes on to the same bits", "[train][shards]") {
  SmallRun run(lanes(2));
  run.use(mlp());
  const auto first = run.engine(run.schedule_of(pair()));
  static_cast<void>(steps(run, *first, 1, 2));
  const io::Checkpoint saved = test::saved_state(*first);
  static_cast<void>(steps(run, *first, 3, 5));
  const auto second = run.engine(run.schedule_of(pair()));
  second->restore(saved);
  static_cast<void>(steps(run, *second, 3, 5));

  CHECK(second->weights_hash() == first->weights_hash());
}

TEST_CASE("A lane holds its slice's weights only, and the engine what was planned",
          "[train][shards]") {
  SmallRun run(lanes(2));
  run.use(mlp());
  const auto schedule = run.schedule_of(pair());
  const auto planned = plan::plan_memory({run.graph, *run.optimizer, DType::f64, {}}, schedule);
  const auto whole = plan::plan_memory({run.graph, *run.optimizer, DType::f64, {}},
                                       run.schedule_of(policies::single({.place = "device1"})));
  const auto weights = [](const plan::PlaceMemory& place) {
    return place.lane.usage()[memory::Category::weights];
  };

  CHECK(weights(planned[1]) < weights(whole[1]) / 2);
  CHECK(planned[1].lane.total() < whole[1].lane.total());
  const auto engine = run.engine(schedule);
  for (const train::LaneUsage& usage : engine->memory()) {
    if (usage.lane == "device1") {
      CHECK(usage.bytes == planned[1].lane.total());
    }
  }
}

TEST_CASE("A lane that can't hold its slice is refused before the run", "[train][shards]") {
  auto specs = lanes(2);
  specs[1].budget_bytes = 4096;
  SmallRun run(std::move(specs));
  run.use(mlp());

  CHECK_THROWS_AS(run.engine(run.schedule_of(pair({1.0, 16.0}))), MemoryError);
}

}  // namespace zygos::test_slices
