// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps of which a lane keeps its part of the work and launches it again. On an emulated lane a
// launch runs the tasks with the inputs of the step in which they were recorded, as the arguments
// of a graph's kernels are: whatever differs between steps must come from the lane's memory.
#include "policy_cases.hpp"
#include "small_run.hpp"
#include "train/queues/step_recordings.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/rate_schedules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zygos::test_step_recording {
namespace {

using schedule::TaskKind;
using test::SmallRun;

constexpr std::uint64_t steps = 10;

/// w -= rate(step) v, v = v / 2 + factor g, with a rate that depends on the step as no other does.
class SteppedRate final : public nn::Optimizer {
 public:
  explicit SteppedRate(bool reads_scalars) : reads_scalars_(reads_scalars) {}

  std::string_view type() const override { return "stepped_rate"; }
  std::vector<std::string> state_names() const override { return {"velocity"}; }
  double learning_rate() const override { return 0.25; }
  bool uses_decay() const override { return false; }
  nn::Cost cost(std::int64_t, DType) const override { return {}; }
  bool reads_scalars() const override { return reads_scalars_; }
  nn::UpdateScalars scalars_at(std::uint64_t step, double rate_factor) const override {
    return {0.25 * rate_factor / std::sqrt(static_cast<double>(step))};
  }
  void update(const lane::Execution&, const nn::UpdateArgs& args) const override {
    if (fails != 0) {
      throw UsageError("this update fails");
    }
    const double rate =
        args.scalars ? *args.scalars.data<double>() : scalars_at(args.step, args.rate_factor)[0];
    double* const weights = args.weights.data<double>();
    double* const velocity = args.states.at(0).data<double>();
    const double* const gradient = args.gradient.data<double>();
    for (std::int64_t i = 0; i < args.weights.shape().size(); ++i) {
      velocity[i] = 0.5 * velocity[i] + gradient[i];
      weights[i] -= rate * velocity[i];
    }
  }

  mutable std::atomic<int> fails{0};

 private:
  bool reads_scalars_;
};

std::vector<lane::LaneSpec> recording_lanes(bool with_host) {
  lane::LaneSpec device = test::emulated_lane();
  device.records = true;
  return with_host ? std::vector{test::host_lane(), device} : std::vector{device};
}

/// What training has made, and what was launched for it.
struct Trained {
  std::vector<std::pair<std::string, std::vector<std::byte>>> state;
  std::vector<double> losses;
  std::vector<std::int64_t> launches;  ///< by step
  std::vector<std::int64_t> tasks;     ///< by step
};

/// All kinds of rounds: other samples in each step, a rest in the fourth and the last, evaluations
/// in between, and every second batch announced a step ahead.
Trained train(SmallRun& run, train::Engine& engine) {
  Trained trained;
  const auto ids_of = [](std::uint64_t step) {
    std::vector<std::uint32_t> ids(step == 4 || step == steps ? 27 : 40);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::uint32_t>((i * 7 + step * 31) % 200);
    }
    return ids;
  };
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const auto ids = ids_of(step);
    const auto next = ids_of(step + 1);
    const train::Batch batch{run.rows.inputs, run.rows.targets, ids};
    const train::Batch behind{run.rows.inputs, run.rows.targets, next};
    const train::StepReport report = engine.step(batch, step, step % 4 == 0 ? nullptr : &behind);
    trained.losses.push_back(report.loss);
    trained.launches.push_back(report.launches);
    trained.tasks.push_back(report.recorded_tasks);
    if (step % 3 == 0) {
      trained.losses.push_back(engine.evaluate(run.batch()).loss);
    }
  }
  for (const io::StoredTensor& tensor : test::saved_state(engine).tensors) {
    trained.state.emplace_back(tensor.name, tensor.bytes);
  }
  return trained;
}

struct Case {
  train::PolicyPtr policy;
  nn::OptimizerPtr optimizer;
  std::int32_t batch_slots = 1;
  double dropout = 0.0;
  bool with_host = true;
};

Trained trained(const Case& one, bool records, int cores = 0) {
  SmallRun run(recording_lanes(one.with_host));
  run.graph = test::small_model(one.dropout);
  run.optimizer = one.optimizer;
  run.options.record_steps = records;
  run.options.cores = cores;
  run.options.rates = nn::cosine_rate({.length = {10, nn::Duration::Unit::steps}, .start = {}});
  plan::Problem problem = run.problem();
  problem.batch_slots = one.batch_slots;
  const auto engine = run.engine(one.policy->schedule(problem, nullptr));
  return train(run, *engine);
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void check_same_bits(const Case& one, int cores = 0) {
  const Trained launched = trained(one, true, cores);
  const Trained run = trained(one, false, cores);
  CHECK(launched.state == run.state);
  CHECK(launched.losses == run.losses);
  CHECK(sum(launched.launches) > 0);
  CHECK(sum(run.launches) == 0);
}

nn::OptimizerPtr stepped(bool reads_scalars = true) {
  return std::make_shared<SteppedRate>(reads_scalars);
}

train::PolicyPtr on_device() { return policies::single({.place = "device"}); }

}  // namespace

TEST_CASE("A whole step of a lane is one launch once it has run with as many samples", "[train]") {
  const Trained launched = trained({on_device(), stepped(), 1, 0.0, false}, true);
  // The first step is measured and runs task by task, as does the first with a rest.
  CHECK(launched.launches == std::vector<std::int64_t>{0, 1, 1, 0, 1, 1, 1, 1, 1, 1});
  // Copy, forward, loss, backward and update.
  CHECK(launched.tasks == std::vector<std::int64_t>{0, 5, 5, 0, 5, 5, 5, 5, 5, 5});
}

TEST_CASE("Updates are launched again only if their optimizer reads scalars", "[train]") {
  const Trained launched = trained({on_device(), stepped(false), 1, 0.0, false}, true);
  CHECK(launched.tasks == std::vector<std::int64_t>{0, 4, 4, 0, 4, 4, 4, 4, 4, 4});
}

TEST_CASE("Recorded steps have every bit of others", "[train]") {
  for (const bool reads : {true, false}) {
    check_same_bits({on_device(), stepped(reads), 1, 0.0, false});
    check_same_bits({on_device(), stepped(reads), 2, 0.0, false});
  }
  check_same_bits({on_device(), nn::adam({}), 1, 0.0, false});
  check_same_bits({on_device(), nn::sgd({.learning_rate = 0.1, .momentum = 0.9}), 2, 0.0, false});
}

TEST_CASE("Recorded steps draw the dropout masks of their own step", "[train]") {
  check_same_bits({on_device(), nn::adam({.weight_decay = 0.01}), 2, 0.25, false});
}

TEST_CASE("Recorded steps clip the gradient of their own step", "[train]") {
  check_same_bits({on_device(), nn::clipped(nn::sgd({.learning_rate = 0.5, .momentum = 0.9}), 0.3),
                   2, 0.0, false});
}

TEST_CASE("What messages of two lanes cut is recorded piece by piece", "[train]") {
  for (const auto& policy :
       {policies::coarse_split({.share = {}, .samples = 13}),
        policies::gpipe({.micro_batches = 4, .stages = {}}),
        policies::one_f_one_b({.micro_batches = 5, .stages = {}}), policies::tensor_parallel({}),
        policies::zero_offload({}), policies::pipedream({})}) {
    for (const std::int32_t slots : {1, 2}) {
      for (const int cores : {1, 8}) {  // one thread for all queues of a lane, and one for each
        check_same_bits({policy, stepped(), slots}, cores);
      }
    }
  }
}

TEST_CASE("Recorded steps of every policy have the bits of others", "[train][policies]") {
  const test::CutModel model = test::dense_model();
  for (const bool strict : {false, true}) {
    for (const test::PolicyCase& one : test::synchronous_policies(model, strict)) {
      std::vector<std::string> hashes;
      std::int64_t launches = 0;
      for (const bool records : {true, false}) {
        std::vector<lane::LaneSpec> lanes = test::workers(one.lanes);
        for (lane::LaneSpec& lane : lanes) {
          lane.records = lane.kind == lane::Kind::emulated && !lane.unified;
        }
        SmallRun run(lanes);
        run.use(model.graph);
        run.optimizer = nn::clipped(nn::adam({}), 0.5);
        run.options.record_steps = records;
        plan::Problem problem = run.problem();
        problem.chunk = strict ? 5 : 0;
        const auto engine = run.engine(one.policy->schedule(problem, nullptr));
        for (std::uint64_t step = 1; step <= 4; ++step) {
          launches += engine->step(run.batch(), step).launches;
        }
        hashes.push_back(engine->weights_hash());
      }
      CAPTURE(one.name, one.lanes, strict);
      CHECK(hashes.front() == hashes.back());
      CHECK((launches > 0 || one.lanes < 2));
    }
  }
}

TEST_CASE("A launch that fails names its lane and task, and the engine goes on after restore",
          "[train]") {
  const auto failing = std::make_shared<SteppedRate>(true);
  const auto state_after = [&](bool fails) {
    SmallRun run(recording_lanes(false));
    run.graph = test::small_model(0.0);
    run.optimizer = failing;
    run.options.record_steps = true;
    const auto engine = run.engine(run.schedule_of(on_device()));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      engine->step(run.batch(), step);
    }
    const io::Checkpoint saved = test::saved_state(*engine);
    if (fails) {
      failing->fails = 1;
      CHECK_THROWS_WITH(engine->step(run.batch(), 4),
                        Catch::Matchers::ContainsSubstring("device") &&
                            Catch::Matchers::ContainsSubstring("update"));
      failing->fails = 0;
    }
    engine->restore(saved);
    CHECK(engine->step(run.batch(), 4).launches == (fails ? 0 : 1));
    CHECK(engine->step(run.batch(), 5).launches == 1);
    return engine->weights_hash();
  };
  CHECK(state_after(true) == state_after(false));
}

TEST_CASE("Nothing is recorded where nobody asks for it or the lane does not", "[train]") {
  SmallRun run(test::host_and_device());
  run.options.record_steps = true;
  const auto engine = run.engine(run.schedule_of(on_device()));
  for (std::uint64_t step = 1; step <= 3; ++step) {
    CHECK(engine->step(run.batch(), step).launches == 0);
  }
  // Nor has it room for what recorded steps read.
  SmallRun other(test::host_and_device());
  CHECK(other.engine(other.schedule_of(on_device()))->memory().front().bytes ==
        engine->memory().front().bytes);
}

TEST_CASE("The numbers in which steps differ are planned memory, and all of it is used",
          "[train][memory]") {
  for (const bool records : {true, false}) {
    SmallRun run(recording_lanes(true));
    run.options.record_steps = records;
    const auto engine = run.engine(run.split(15));
    engine->step(run.batch(), 1);
    for (const train::LaneUsage& lane : engine->memory()) {
      for (const memory::Category category : memory::all_categories) {
        CAPTURE(lane.lane, name_of(category));
        CHECK(lane.used[category] == lane.usage[category]);
      }
    }
  }
}

TEST_CASE("A segment begins where a task waits and ends where one is waited for", "[train]") {
  schedule::Schedule schedule;
  for (const TaskKind kind : {TaskKind::load, TaskKind::copy, TaskKind::forward, TaskKind::loss,
                              TaskKind::backward, TaskKind::all_reduce, TaskKind::update}) {
    schedule::Task task;
    task.kind = kind;
    schedule.tasks.push_back(task);
  }
  train::TaskQueue queue;
  for (std::size_t i = 0; i < schedule.tasks.size(); ++i) {
    queue.push_back({static_cast<schedule::TaskId>(i), {}, false});
  }
  using Segments = std::vector<train::QueueSegment>;

  CHECK(recordable_segments(schedule, queue, true) == Segments{{1, 5}, {6, 7}});
  CHECK(recordable_segments(schedule, queue, false) == Segments{{1, 5}});
  queue[2].wait_for = {0};
  CHECK(recordable_segments(schedule, queue, false) == Segments{{1, 2}, {2, 5}});
  queue[3].signals = true;
  CHECK(recordable_segments(schedule, queue, false) == Segments{{1, 2}, {2, 4}, {4, 5}});
}

}  // namespace zygos::test_step_recording
