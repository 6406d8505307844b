// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Updates that begin before the norm of the gradient is known: every bit is that of updates that
// wait for it, whether the norm then undoes them or not.
#include "small_run.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_speculation {
namespace {

using schedule::TaskKind;
using test::SmallRun;

constexpr std::uint64_t steps = 12;
/// Such that the norm of none of the steps, of some, and of all of them is above it.
constexpr double above = 1e6;
constexpr double below = 1e-6;

/// Buckets of one layer each.
train::PolicyPtr offload(bool speculates, schedule::Tier weights = schedule::Tier::lane) {
  return policies::zero_offload(
      {.owner = "host", .bucket_bytes = 64, .weights = weights, .speculate = speculates});
}

train::PolicyPtr with_device_layer(bool speculates) {
  return policies::cotrain(
      {.owner = "host", .bucket_bytes = 64, .device_layers = 1, .speculate = speculates});
}

/// With the lane of the name as owner.
train::PolicyPtr owned_by(const std::string& owner, bool speculates) {
  return policies::zero_offload({.owner = owner, .bucket_bytes = 64, .speculate = speculates});
}

std::int64_t count_of(const schedule::Schedule& schedule, TaskKind kind) {
  return std::ranges::count(schedule.tasks, kind, &schedule::Task::kind);
}

std::vector<nn::OptimizerPtr> optimizers() {
  return {nn::sgd({.learning_rate = 0.5}),
          nn::sgd({.learning_rate = 0.5, .momentum = 0.9, .weight_decay = 0.01}),
          nn::adam({}),
          nn::adam({.weight_decay = 0.01, .decoupled = true}),
          nn::adagrad({}),
          nn::rmsprop({.momentum = 0.5})};
}

/// What training has made, and how many steps were made again.
struct Trained {
  std::vector<std::pair<std::string, std::vector<std::byte>>> state;
  std::uint64_t redone = 0;

  bool operator==(const Trained& other) const { return state == other.state; }
};

/// The norm of the gradient half way, without clipping.
double norm_between(const nn::OptimizerPtr& optimizer) {
  SmallRun run(test::host_and_device());
  run.optimizer = optimizer;
  const auto engine = run.engine(run.schedule_of(offload(false)));
  for (std::uint64_t step = 1; step <= steps / 2; ++step) {
    engine->step(run.batch(), step);
  }
  const auto gradient = engine->gradient();
  return std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
}

/// Adam that clips the gradients of some of the steps.
nn::OptimizerPtr adam_that_clips() { return nn::clipped(nn::adam({}), norm_between(nn::adam({}))); }

Trained state_of(train::Engine& engine) {
  Trained made;
  for (auto& tensor : test::saved_state(engine).tensors) {
    made.state.emplace_back(tensor.name, std::move(tensor.bytes));
  }
  return made;
}

Trained trained(const train::PolicyPtr& policy, const nn::OptimizerPtr& optimizer, DType dtype,
                int threads = 1) {
  SmallRun run({test::host_lane(threads), test::emulated_lane()}, dtype);
  run.optimizer = optimizer;
  const auto engine = run.engine(run.schedule_of(policy));
  std::uint64_t redone = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    redone += engine->step(run.batch(), step).redone ? 1U : 0U;
  }
  Trained made = state_of(*engine);
  made.redone = redone;
  return made;
}

/// Passes everything on, but in one step the gradient of one sample is no number.
class BadGradient final : public nn::Layer {
 public:
  std::string_view type() const override { return "bad_gradient"; }
  Shape infer(std::span<const Shape> inputs) const override { return inputs.front(); }
  nn::Cost forward_cost(std::int64_t, std::span<const Shape>, DType) const override { return {}; }
  nn::Cost backward_cost(std::int64_t, std::span<const Shape>, DType, bool) const override {
    return {};
  }
  void forward(const nn::Context&, const nn::ForwardArgs& args) const override {
    std::memcpy(args.output.raw(), args.inputs[0].raw(), args.output.bytes());
  }
  void backward(const nn::Context& context, const nn::BackwardArgs& args) const override {
    if (args.d_inputs[0]) {
      std::memcpy(args.d_inputs[0].raw(), args.d_output.raw(), args.d_output.bytes());
      if (context.step == 3) {
        args.d_inputs[0].data<double>()[1] = bad;
      }
    }
  }

  double bad = std::numeric_limits<double>::quiet_NaN();
};

/// What the third step says, after two good ones, and the weights that are there then.
std::pair<std::string, std::vector<double>> failed(bool speculates, double bad) {
  SmallRun run(test::host_and_device());
  auto layer = std::make_shared<BadGradient>();
  layer->bad = bad;
  run.graph = graph::Graph(Shape{10}, nn::cross_entropy());
  run.graph.add("fc1", test::tanh_layer(9));
  run.graph.add("fc2", test::tanh_layer(9));
  run.graph.add("bad", layer);
  run.graph.add("fc3", nn::dense({.units = 3}));
  run.optimizer = nn::clipped(nn::adam({}), 0.1);
  const auto engine = run.engine(run.schedule_of(offload(speculates)));
  engine->step(run.batch(), 1);
  engine->step(run.batch(), 2);
  std::string said = "nothing";
  try {
    engine->step(run.batch(), 3);
  } catch (const NumericError& error) {
    said = error.what();
  }
  return {said, engine->weights()};
}

}  // namespace

TEST_CASE("Updates that are speculated have the bits of those that wait for the norm",
          "[train][clip]") {
  for (const auto& base : optimizers()) {
    for (const double limit : {below, norm_between(base), above}) {
      const auto optimizer = nn::clipped(base, limit);
      for (const DType dtype : {DType::f32, DType::f64}) {
        CAPTURE(base->type(), limit, name_of(dtype));
        const Trained waits = trained(offload(false), optimizer, dtype);
        CHECK(waits.redone == 0);
        for (const auto& policy :
             {offload(true), offload(true, schedule::Tier::host), with_device_layer(true)}) {
          const Trained speculated = trained(policy, optimizer, dtype);
          CHECK(speculated == waits);
          CHECK((speculated.redone == steps) == (limit == below));
          CHECK((speculated.redone == 0) == (limit == above));
        }
      }
    }
  }
}

TEST_CASE("An owner behind a link speculates with the same bits", "[train][clip]") {
  const auto optimizer = adam_that_clips();
  const Trained waits = trained(owned_by("device", false), optimizer, DType::f32);
  const Trained speculated = trained(owned_by("device", true), optimizer, DType::f32);
  CHECK(speculated == waits);
  CHECK(speculated.redone > 0);
  CHECK(speculated.redone < steps);
}

TEST_CASE("Updates that are made again have the same bits for any number of threads",
          "[train][clip]") {
  const auto optimizer = adam_that_clips();
  const Trained one = trained(offload(true), optimizer, DType::f32);
  CHECK(trained(offload(true), optimizer, DType::f32, 2) == one);
  CHECK(trained(offload(true), optimizer, DType::f32, 3) == one);
}

TEST_CASE("A gradient that is not finite ends a speculated step as any other", "[train][clip]") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto waits = failed(false, bad);
    const auto speculated = failed(true, bad);
    CHECK(waits.first.find("fc") != std::string::npos);
    CHECK(speculated.first == waits.first);
    CHECK(speculated.second == waits.second);
  }
}

TEST_CASE("A run that speculates resumes with the bits of an undisturbed one", "[train][clip]") {
  const auto start = [](SmallRun& run) {
    run.optimizer = adam_that_clips();
    return run.engine(run.schedule_of(offload(true)));
  };
  SmallRun run(test::host_and_device(), DType::f32);
  const auto engine = start(run);
  for (std::uint64_t step = 1; step <= steps / 2; ++step) {
    engine->step(run.batch(), step);
  }
  const io::Checkpoint saved = test::saved_state(*engine);
  SmallRun other(test::host_and_device(), DType::f32);
  const auto resumed = start(other);
  resumed->restore(saved);
  for (std::uint64_t step = steps / 2 + 1; step <= steps; ++step) {
    engine->step(run.batch(), step);
    resumed->step(other.batch(), step);
  }
  CHECK(state_of(*resumed) == state_of(*engine));
}

TEST_CASE("The owner keeps what is overwritten, of all buckets but the last, as planned",
          "[train][clip]") {
  const auto usage = [](bool speculates) {
    SmallRun run(test::host_and_device(), DType::f32);
    run.optimizer = adam_that_clips();
    const auto engine = run.engine(run.schedule_of(offload(speculates)));
    engine->step(run.batch(), 1);
    const auto memory = engine->memory();
    const auto host = std::ranges::find(memory, "host", &train::LaneUsage::lane);
    CHECK(host->used[memory::Category::stash] == host->usage[memory::Category::stash]);
    return std::pair(host->usage[memory::Category::stash], engine->schedule());
  };
  CHECK(usage(false).first == 0);
  const auto [bytes, schedule] = usage(true);
  std::size_t elements = 0;
  for (const schedule::Task& task : schedule.tasks) {
    elements +=
        task.kind == TaskKind::speculate ? static_cast<std::size_t>(task.elements.count()) : 0;
  }
  CHECK(elements > 0);
  CHECK(bytes >= 12 * elements);
  CHECK(bytes < 12 * elements + 3 * 256);  // three tensors, aligned
  CHECK(count_of(schedule, TaskKind::confirm) == count_of(schedule, TaskKind::speculate));
}

}  // namespace zygos::test_speculation
