// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "small_run.hpp"

#include "zygos/train/engine.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace zygos::test_engine {
namespace {

using test::SmallRun;

double norm(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

double distance(std::vector<double> a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= b[i];
  }
  return norm(a);
}

struct OneStep {
  std::vector<double> gradient;
  double loss = 0.0;
  std::int64_t hits = 0;
};

OneStep one_step(SmallRun& run, schedule::Schedule schedule) {
  const auto engine = run.engine(std::move(schedule));
  const auto report = engine->step(run.batch(), 1);
  return {engine->gradient(), report.loss, report.hits};
}

void gradients_agree_at_21_ratios(DType dtype, double tolerance) {
  SmallRun run(test::host_and_device(), dtype);
  const OneStep whole = one_step(run, run.schedule_of(policies::single({.place = "host"})));
  const OneStep device = one_step(run, run.schedule_of(policies::single({.place = "device"})));
  CHECK(device.gradient == whole.gradient);
  for (int ratio = 0; ratio <= 20; ++ratio) {
    const OneStep split = one_step(run, run.split(ratio * 2));
    CAPTURE(ratio);
    CHECK(distance(split.gradient, whole.gradient) <= tolerance * norm(whole.gradient));
    CHECK(std::abs(split.loss - whole.loss) <= tolerance * std::abs(whole.loss));
    CHECK(split.hits == whole.hits);
  }
}

}  // namespace

TEST_CASE("Lanes that need more of the host's memory together than may be used are refused",
          "[train][engine]") {
  SmallRun run(test::host_and_device());
  std::size_t all = 0;
  std::size_t largest = 0;
  for (const train::LaneUsage& usage : run.engine(run.split(13))->memory()) {
    all += usage.bytes;
    largest = std::max(largest, usage.bytes);
  }
  REQUIRE(largest < all - 1);  // no block by itself is too large

  run.options.host_memory_bytes = all;
  CHECK_NOTHROW(run.engine(run.split(13)));
  run.options.host_memory_bytes = all - 1;
  CHECK_THROWS_WITH(run.engine(run.split(13)),
                    Catch::Matchers::ContainsSubstring("of host memory together"));
  CHECK_THROWS_AS(run.engine(run.split(13)), MemoryError);
}

TEST_CASE("A split at 21 ratios gives the unsplit gradient to 1e-12 in double", "[train][engine]") {
  gradients_agree_at_21_ratios(DType::f64, 1e-12);
}

TEST_CASE("A split at 21 ratios gives the unsplit gradient to 1e-5 in float", "[train][engine]") {
  gradients_agree_at_21_ratios(DType::f32, 1e-5);
}

TEST_CASE("A schedule for evaluation gives the same loss in less memory, and takes no steps",
          "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto schedule = run.split(15);
  const auto training = run.engine(schedule);
  const auto evaluating = run.engine(schedule.for_evaluation());

  const auto expected = training->evaluate(run.batch());
  const auto found = evaluating->evaluate(run.batch());

  CHECK(found.loss == expected.loss);
  CHECK(found.hits == expected.hits);
  CHECK(evaluating->weights_hash() == training->weights_hash());
  for (std::size_t i = 0; i < 2; ++i) {
    const memory::Usage less = evaluating->memory()[i].usage;
    CHECK(less[memory::Category::gradients] == 0);
    CHECK(less[memory::Category::optimizer_state] == 0);
    CHECK(less[memory::Category::weights] > 0);
  }
  CHECK_THROWS_AS(evaluating->step(run.batch(), 1), UsageError);
  CHECK_THROWS_AS(evaluating->gradient(), UsageError);
  CHECK_THROWS_AS(evaluating->gradient(0), UsageError);
}

TEST_CASE("An evaluation tells what the model predicts for every sample, whoever computed it",
          "[train][engine]") {
  for (const std::size_t samples : {std::size_t{40}, std::size_t{27}}) {
    SmallRun run(test::host_and_device());
    run.ids.resize(samples);
    const auto predicted = [&](const train::PolicyPtr& policy) {
      std::vector<double> predictions(samples * 3, -7.0);
      run.engine(run.schedule_of(policy))->evaluate(run.batch(), predictions);
      return predictions;
    };
    const std::vector<double> whole = predicted(policies::single({.place = "host"}));
    for (const auto& policy : {policies::coarse_split({.share = {}, .samples = 13}),
                               policies::gpipe({.micro_batches = 4, .stages = {}}),
                               policies::one_f_one_b({.micro_batches = 5, .stages = {}}),
                               policies::tensor_parallel({}), policies::zero_offload({})}) {
      CAPTURE(samples, policy->keyword());
      CHECK(distance(predicted(policy), whole) <= 1e-12 * norm(whole));
    }
    std::vector<double> short_room(samples * 3 - 1);
    CHECK_THROWS_AS(run.engine(run.split(13))->evaluate(run.batch(), short_room), UsageError);
  }
}

// What no later layer reads makes room.
TEST_CASE(
    "Evaluation of a branching chain gives the loss of training's engine, also in strict mode",
    "[train][engine]") {
  SmallRun run(test::host_and_device());
  graph::Graph graph(Shape{10}, nn::cross_entropy());
  graph.add("fc1", test::tanh_layer(31));
  graph.add("fc2", test::tanh_layer(31));
  graph.add("sum", nn::add(), test::Names{"fc2", "fc1"});
  graph.add("fc3", test::tanh_layer(64));
  graph.add("fc4", test::tanh_layer(31));
  graph.add("late", nn::add(), test::Names{"fc4", "sum"});
  graph.add("fc5", nn::dense({.units = 3, .bias = true, .activation = nn::Activation::none}));
  run.use(graph);
  for (const std::int64_t chunk : {0, 5}) {
    plan::Problem problem = run.problem();
    problem.chunk = chunk;
    const auto schedule =
        policies::coarse_split({.share = {}, .samples = 15})->schedule(problem, nullptr);
    const auto training = run.engine(schedule);
    const auto evaluating = run.engine(schedule.for_evaluation());
    const auto activations = [](const train::Engine& engine) {
      return engine.memory()[0].usage[memory::Category::activations];
    };
    CAPTURE(chunk);
    CHECK(evaluating->evaluate(run.batch()).loss == training->evaluate(run.batch()).loss);
    CHECK(activations(*evaluating) < activations(*training));
  }
}

TEST_CASE("Both replicas hold the same bits after a hundred split steps", "[train][engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    SmallRun run(test::host_and_device(), dtype);
    const auto engine = run.engine(run.split(13));

    for (std::uint64_t step = 1; step <= 100; ++step) {
      engine->step(run.batch(), step);
    }

    CHECK(engine->gradient(0) == engine->gradient(1));
    CHECK(engine->weights(0) == engine->weights(1));
  }
}

TEST_CASE("A place that takes no part has nothing to show", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(0));
  CHECK_THROWS_AS(engine->weights(0), UsageError);
  CHECK_THROWS_AS(engine->gradient(0), UsageError);
  CHECK_THROWS_AS(engine->prediction(2), UsageError);
  CHECK_NOTHROW(engine->weights(1));
}

TEST_CASE("The loss of a learnable problem falls under a split", "[train][engine]") {
  SmallRun run(test::host_and_device());
  run.optimizer = nn::adam({.learning_rate = 0.01});
  const auto engine = run.engine(run.split(25));
  const double first = engine->step(run.batch(), 1).loss;

  double last = first;
  for (std::uint64_t step = 2; step <= 300; ++step) {
    last = engine->step(run.batch(), step).loss;
  }

  CHECK(last < 0.5 * first);
}

TEST_CASE("An incomplete batch counts each of its samples once", "[train][engine]") {
  SmallRun run(test::host_and_device());
  run.ids.resize(27);
  const OneStep whole = one_step(run, run.schedule_of(policies::single({.place = "host"})));
  for (const std::int64_t first : {0, 5, 27, 30, 40}) {
    CAPTURE(first);
    const OneStep split = one_step(run, run.split(first));
    CHECK(distance(split.gradient, whole.gradient) <= 1e-12 * norm(whole.gradient));
    CHECK(std::abs(split.loss - whole.loss) <= 1e-12);
  }
}

TEST_CASE("A full batch after an incomplete one gives the same bits as without it",
          "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  const double expected = engine->evaluate(run.batch()).loss;
  auto shorter = run.batch();
  shorter.ids = shorter.ids.first(3);
  engine->evaluate(shorter);

  CHECK(engine->evaluate(run.batch()).loss == expected);
}

TEST_CASE("Evaluation changes no weight and applies no dropout", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  const std::string before = engine->weights_hash();

  const double first = engine->evaluate(run.batch()).loss;
  const double second = engine->evaluate(run.batch()).loss;

  CHECK(first == second);
  CHECK(engine->weights_hash() == before);
}

TEST_CASE("Weights are the same bits for one to four threads", "[train][engine]") {
  std::string expected;
  for (const int threads : {1, 2, 3, 4}) {
    SmallRun run({test::host_lane(threads), test::emulated_lane()}, DType::f32);
    const auto engine = run.engine(run.split(23));
    for (std::uint64_t step = 1; step <= 20; ++step) {
      engine->step(run.batch(), step);
    }
    const std::string hash = engine->weights_hash();
    CAPTURE(threads);
    CHECK((expected.empty() || hash == expected));
    expected = hash;
  }
}

TEST_CASE("A failing task names its lane and task and stops the other lane", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  auto batch = run.batch();
  std::vector<std::uint32_t> ids(run.ids);
  batch.ids = ids;
  // Integer targets are promised; floats make the gather on the lane's own thread fail.
  batch.targets = run.rows.inputs;
  batch.targets.row_elements = 1;

  try {
    engine->step(batch, 1);
    FAIL("nothing was thrown");
  } catch (const LaneError& error) {
    // Both lanes' gathers are bound to fail; which one comes first is open.
    CHECK_THAT(error.task(), Catch::Matchers::ContainsSubstring("load@" + error.lane()));
  }
  CHECK_THROWS_AS(engine->step(run.batch(), 1), InternalError);
  engine->initialise();
  CHECK_NOTHROW(engine->step(run.batch(), 1));
}

TEST_CASE("A loss that is not finite names the step and the first bad layer", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  auto batch = run.batch();
  batch.inputs.scale = std::numeric_limits<double>::quiet_NaN();

  try {
    engine->step(batch, 5);
    FAIL("nothing was thrown");
  } catch (const NumericError& error) {
    CHECK(error.code() == ExitCode::numeric);
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("step 5"));
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("'fc1'"));
  }
}

TEST_CASE("A lane over its budget is refused before anything runs", "[train][engine]") {
  auto specs = test::host_and_device();
  specs[1].budget_bytes = 2000;
  SmallRun run(specs);
  CHECK_THROWS_AS(run.engine(run.split(20)), MemoryError);
  CHECK_NOTHROW(run.engine(run.schedule_of(policies::single({.place = "host"}))));
}

TEST_CASE("Batches that do not fit the model are refused with both numbers", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  auto batch = run.batch();

  batch.inputs.row_elements = 9;
  CHECK_THROWS_WITH(engine->step(batch, 1), Catch::Matchers::ContainsSubstring("9 values") &&
                                                Catch::Matchers::ContainsSubstring("takes 10"));
  batch = run.batch();
  batch.ids = {};
  CHECK_THROWS_AS(engine->step(batch, 1), UsageError);
  const std::vector<std::uint32_t> far{500};
  batch.ids = far;
  CHECK_THROWS_WITH(engine->step(batch, 1), Catch::Matchers::ContainsSubstring("500"));
}

TEST_CASE("A snapshot put back continues with the same bits", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  for (std::uint64_t step = 1; step <= 5; ++step) {
    engine->step(run.batch(), step);
  }
  const io::Checkpoint saved = test::saved_state(*engine);
  for (std::uint64_t step = 6; step <= 10; ++step) {
    engine->step(run.batch(), step);
  }
  const std::string expected = engine->weights_hash();

  const auto other = run.engine(run.split(20));
  other->restore(saved);
  for (std::uint64_t step = 6; step <= 10; ++step) {
    other->step(run.batch(), step);
  }

  CHECK(other->weights_hash() == expected);
}

TEST_CASE("The arena of a run holds exactly what the plan says", "[train][engine]") {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.split(20));
  const auto planned =
      plan::plan_memory({run.graph, *run.optimizer, DType::f64, {}}, engine->schedule());
  const auto used = engine->memory();
  REQUIRE(used.size() >= 2);
  CHECK(used[0].lane == "host");
  CHECK(used[0].bytes == planned[0].lane.total());
  CHECK(used.back().lane == "device/staging");
  CHECK(used.back().bytes == planned[1].staging.total());
}

TEST_CASE("An engine refuses targets of a type that its loss does not read", "[train]") {
  SmallRun run({test::host_lane()}, DType::f32);
  graph::Graph numbers(Shape{10}, nn::mean_squared_error());
  numbers.add("out", nn::dense({.units = 2}));
  run.graph = numbers;
  run.targets = {Shape{2}, DType::f64};
  const auto schedule = run.schedule_of(policies::single({}));

  CHECK_THROWS_WITH(run.engine(schedule), Catch::Matchers::ContainsSubstring("targets are f64") &&
                                              Catch::Matchers::ContainsSubstring("reads f32"));
  run.targets.dtype = DType::f32;
  CHECK_NOTHROW(run.engine(schedule));
}

}  // namespace zygos::test_engine
