// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer states that rest in the owner's file and come for the update of their bucket: every bit
// is that of states in its memory, which they leave but for a few buckets.
#include "small_run.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace zygos::test_spilled_states {
namespace {

using memory::Category;
using schedule::Tier;
using test::SmallRun;

constexpr std::uint64_t steps = 6;

using MakePolicy = std::function<train::PolicyPtr(Tier states)>;

/// Buckets of one layer each.
train::PolicyPtr offload(Tier states) {
  return policies::zero_offload({.owner = "host", .bucket_bytes = 64, .states = states});
}

train::PolicyPtr streaming(Tier states) {
  return policies::zero_offload({.owner = "host",
                                 .bucket_bytes = 64,
                                 .weights = Tier::host,
                                 .speculate = false,
                                 .states = states});
}

/// The device updates a half of the first layer.
train::PolicyPtr shared(Tier states) {
  return policies::cotrain(
      {.owner = "host", .bucket_bytes = 64, .device_layers = 0.5, .states = states});
}

const std::vector<std::pair<std::string, MakePolicy>>& policies_with_owner() {
  static const std::vector<std::pair<std::string, MakePolicy>> all{
      {"zero_offload", offload}, {"zero_offload, weights: host", streaming}, {"cotrain", shared}};
  return all;
}

/// The norm of the gradient half way, without clipping.
double norm_between() {
  SmallRun run(test::host_and_device());
  const auto engine = run.engine(run.schedule_of(offload(Tier::host)));
  for (std::uint64_t step = 1; step <= steps / 2; ++step) {
    engine->step(run.batch(), step);
  }
  const auto gradient = engine->gradient();
  return std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
}

std::vector<nn::OptimizerPtr> optimizers() {
  return {nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), nn::adam({}),
          nn::adam({.weight_decay = 0.01, .decoupled = true}),
          nn::clipped(nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), norm_between()),
          nn::clipped(nn::adam({}), norm_between())};
}

io::Checkpoint trained(const train::PolicyPtr& policy, const nn::OptimizerPtr& optimizer,
                       DType dtype, std::int32_t prefetch = 1, int threads = 1) {
  SmallRun run({test::host_lane(threads), test::emulated_lane()}, dtype);
  run.optimizer = optimizer;
  plan::Problem problem = run.problem();
  problem.prefetch = prefetch;
  const auto engine = run.engine(policy->schedule(problem, nullptr));
  train::Batch incomplete = run.batch();
  incomplete.ids = incomplete.ids.first(7);
  for (std::uint64_t step = 1; step <= steps; ++step) {
    engine->step(step == 4 ? incomplete : run.batch(), step);
    engine->evaluate(run.batch());
  }
  return test::saved_state(*engine);
}

void check_same(const io::Checkpoint& one, const io::Checkpoint& other) {
  REQUIRE(one.tensors.size() == other.tensors.size());
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    CAPTURE(one.tensors[i].name);
    CHECK(one.tensors[i].name == other.tensors[i].name);
    CHECK(one.tensors[i].bytes == other.tensors[i].bytes);
  }
}

/// A name by which this process can open its spill file in the folder once more.
std::filesystem::path spill_file_in(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with((folder / ".spill-").string())) {
      return entry.path();
    }
  }
  return {};
}

}  // namespace

TEST_CASE("States in a file give the bits of states in memory, clipped or not, however far ahead",
          "[train][memory]") {
  for (const auto& optimizer : optimizers()) {
    for (const auto& [name, policy] : policies_with_owner()) {
      for (const DType dtype : {DType::f64, DType::bf16}) {
        CAPTURE(optimizer->type(), optimizer->clip_norm().has_value(), name, name_of(dtype));
        const io::Checkpoint expected = trained(policy(Tier::host), optimizer, dtype);
        check_same(trained(policy(Tier::file), optimizer, dtype), expected);
        check_same(trained(policy(Tier::file), optimizer, dtype, 0, 2), expected);
        check_same(trained(policy(Tier::file), optimizer, dtype, 5), expected);
      }
    }
  }
}

TEST_CASE("In strict mode states in a file change no bit", "[train][memory]") {
  const auto weights = [](const train::PolicyPtr& policy, std::vector<lane::LaneSpec> lanes) {
    SmallRun run(std::move(lanes));
    plan::Problem problem = run.problem();
    problem.chunk = 10;
    const auto engine = run.engine(policy->schedule(problem, nullptr));
    for (std::uint64_t step = 1; step <= steps; ++step) {
      engine->step(run.batch(), step);
    }
    return engine->weights_hash();
  };
  CHECK(weights(offload(Tier::file), test::host_and_device()) ==
        weights(policies::single({}), {test::host_lane()}));
}

TEST_CASE(
    "The owner's memory has the states of as many buckets as are read ahead, and the file all",
    "[train][memory]") {
  constexpr int layers = 8;
  constexpr std::size_t layer = (32 * 32 + 32) * sizeof(double);
  const auto usage_of = [](Tier states, std::int32_t prefetch, const nn::OptimizerPtr& optimizer) {
    SmallRun run(test::host_and_device());
    run.optimizer = optimizer;
    graph::Graph graph(Shape{32}, nn::cross_entropy());
    for (int i = 0; i < layers; ++i) {
      graph.add("fc" + std::to_string(i), test::tanh_layer(32));
    }
    run.use(graph);
    plan::Problem problem = run.problem();
    problem.prefetch = prefetch;
    const auto engine = run.engine(offload(states)->schedule(problem, nullptr));
    engine->step(run.batch(), 1);
    std::size_t host = 0;
    std::size_t file = 0;
    for (const train::LaneUsage& usage : engine->memory()) {
      CAPTURE(usage.lane);
      CHECK(usage.used[Category::optimizer_state] == usage.usage[Category::optimizer_state]);
      host += usage.lane == "host" ? usage.used[Category::optimizer_state] : 0;
      file += usage.lane == "host/file" ? usage.used[Category::optimizer_state] : 0;
    }
    return std::pair(host, file);
  };
  const auto sgd = nn::sgd({.learning_rate = 0.1, .momentum = 0.9});
  for (const auto& [optimizer, states] : {std::pair{sgd, 1UL}, {nn::adam({}), 2UL}}) {
    CAPTURE(optimizer->type());
    CHECK(usage_of(Tier::host, 1, optimizer) == std::pair(layers * states * layer, 0UL));
    for (const std::int32_t prefetch : {0, 1, 2}) {
      const auto buckets = static_cast<std::size_t>(prefetch) + 1;
      CHECK(usage_of(Tier::file, prefetch, optimizer) ==
            std::pair(buckets * states * layer, layers * states * layer));
    }
  }
}

TEST_CASE("A run resumes with states in a file, in memory, or on one lane, to the same bits",
          "[train][resume]") {
  const auto engine_of = [](SmallRun& run, const train::PolicyPtr& policy) {
    return run.engine(run.schedule_of(policy));
  };
  SmallRun whole(test::host_and_device());
  const auto undisturbed = engine_of(whole, offload(Tier::host));
  for (std::uint64_t step = 1; step <= steps; ++step) {
    undisturbed->step(whole.batch(), step);
  }
  for (const Tier before : {Tier::host, Tier::file}) {
    for (const Tier after : {Tier::host, Tier::file}) {
      SmallRun run(test::host_and_device());
      const auto first = engine_of(run, offload(before));
      for (std::uint64_t step = 1; step <= steps / 2; ++step) {
        first->step(run.batch(), step);
      }
      const io::Checkpoint middle = test::saved_state(*first);
      const auto second = engine_of(run, offload(after));
      second->step(run.batch(), 1);  // what restore() has to replace
      second->restore(middle);
      for (std::uint64_t step = steps / 2 + 1; step <= steps; ++step) {
        second->step(run.batch(), step);
      }
      check_same(test::saved_state(*second), test::saved_state(*undisturbed));
    }
  }
}

TEST_CASE("A damaged state ends the step with an I/O error that names it, and restoring cures it",
          "[train]") {
  const test::TemporaryFolder folder("spilled-states");
  SmallRun run(test::host_and_device());
  run.options.spill_folder = folder.path();
  const auto engine = run.engine(run.schedule_of(offload(Tier::file)));
  engine->step(run.batch(), 1);
  const io::Checkpoint good = test::saved_state(*engine);
  const std::filesystem::path name = spill_file_in(folder.path());
  REQUIRE(!name.empty());
  {
    const auto& damaged = good.tensor("first_moment/fc1/kernel").bytes;
    std::fstream raw(name, std::ios::in | std::ios::out | std::ios::binary);
    const std::string all(std::istreambuf_iterator<char>(raw), {});
    const std::size_t at =
        all.find(std::string(reinterpret_cast<const char*>(damaged.data()), damaged.size()));
    REQUIRE(at != std::string::npos);
    raw.clear();
    raw.seekp(static_cast<std::streamoff>(at));
    raw.put(static_cast<char>(~static_cast<unsigned char>(all[at])));
  }

  try {
    engine->step(run.batch(), 2);
    FAIL("nobody has noticed");
  } catch (const LaneError& error) {
    CHECK(error.code() == ExitCode::io);
    CHECK_THAT(error.what(), Catch::Matchers::ContainsSubstring("read_states@host") &&
                                 Catch::Matchers::ContainsSubstring("spilled_state@host") &&
                                 Catch::Matchers::ContainsSubstring("damaged"));
  }
  engine->restore(good);
  CHECK_NOTHROW(engine->step(run.batch(), 2));
}

}  // namespace zygos::test_spilled_states
