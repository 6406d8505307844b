// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes whose one thread goes through all of their queues beside lanes with a thread for each: the
// number of cores decides.
#include "policy_models.hpp"
#include "small_run.hpp"
#include "support/skip.hpp"

#include "zygos/measure/profiler.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace zygos::test_one_driver {
namespace {

using test::SmallRun;

constexpr int one_core = 1;
constexpr int cores_to_spare = 64;

lane::LaneSpec worker(const std::string& name, double latency_s = 0.0) {
  lane::LaneSpec spec;
  spec.name = name;
  spec.kind = lane::Kind::emulated;
  spec.link.latency_s = latency_s;
  return spec;
}

std::vector<lane::LaneSpec> workers(int count, double latency_s = 0.0) {
  std::vector<lane::LaneSpec> specs{test::host_lane()};
  for (int i = 1; i < count; ++i) {
    specs.push_back(worker("worker" + std::to_string(i), latency_s));
  }
  return specs;
}

struct Outcome {
  std::vector<double> losses;
  std::string weights;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome trained(int lanes, const train::PolicyPtr& policy, int cores) {
  SmallRun run(workers(lanes, 2e-5));
  run.use(test::dense_model().graph);
  run.options.cores = cores;
  const auto engine = run.engine(run.schedule_of(policy));
  Outcome out;
  for (std::uint64_t step = 1; step <= 20; ++step) {
    out.losses.push_back(engine->step(run.batch(), step).loss);
    out.losses.push_back(engine->evaluate(run.batch()).loss);
  }
  out.weights = engine->weights_hash();
  return out;
}

void same_bits(int lanes, const train::PolicyPtr& policy) {
  CAPTURE(lanes);
  CHECK(trained(lanes, policy, one_core) == trained(lanes, policy, cores_to_spare));
}

std::vector<train::TaskRecord> records_of(train::Engine& engine, schedule::Place place,
                                          schedule::Queue queue) {
  return engine.trace().of(static_cast<std::size_t>(place) * schedule::queue_count +
                           static_cast<std::size_t>(queue));
}

/// A pipeline of two emulated lanes whose messages take `latency_s`; its second step.
struct Piped {
  static constexpr double latency_s = 5e-3;

  explicit Piped(int cores) : run({worker("first", latency_s), worker("second", latency_s)}) {
    run.options.cores = cores;
    engine = run.engine(run.schedule_of(
        policies::gpipe({.micro_batches = 4, .stages = {.cuts = {"drop"}, .lanes = {}}})));
    engine->step(run.batch(), 1);
    engine->trace().clear();
    engine->step(run.batch(), 2);
  }

  SmallRun run;
  std::unique_ptr<train::Engine> engine;
};

}  // namespace

TEST_CASE("A lane's one driver gives the bits of a thread for each queue", "[train][one_driver]") {
  using policies::Exchange;
  for (const auto exchange :
       {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
    for (const int lanes : {2, 4}) {
      same_bits(lanes,
                policies::data_parallel({.exchange = exchange, .shares = {}, .bucket_bytes = 500}));
    }
  }
  const policies::StageOptions two{.cuts = test::dense_model().two, .lanes = {}};
  const policies::StageOptions four{.cuts = test::dense_model().four, .lanes = {}};
  same_bits(2, policies::coarse_split({.share = {}, .samples = 15}));
  same_bits(4, policies::gpipe({.micro_batches = 8, .stages = four}));
  same_bits(2, policies::one_f_one_b({.micro_batches = 4, .stages = two}));
  same_bits(4, policies::one_f_one_b({.micro_batches = 8, .stages = four}));
  for (const int lanes : {2, 4}) {
    same_bits(lanes, policies::hippie({.replicas = 2, .micro_batches = 4, .stages = two}));
    same_bits(lanes, policies::data_parallel(
                         {.exchange = Exchange::chunked_broadcast, .shares = {}, .chunks = 3}));
  }
}

TEST_CASE("A lane has one driver where its cores are those that compute, and a GPU never",
          "[train][one_driver]") {
  SmallRun run(workers(2));
  run.options.cores = 2;
  CHECK(run.engine(run.split(20))->one_driver(0));
  run.options.cores = 3;
  CHECK_FALSE(run.engine(run.split(20))->one_driver(0));
}

TEST_CASE("All places of a lane have its driver", "[train][one_driver]") {
  SmallRun run(workers(2));
  run.use(test::wide_model());
  run.options.cores = one_core;
  const auto engine =
      run.engine(run.schedule_of(policies::tensor_parallel({.shares = {}, .lanes = {}})));
  const auto places = engine->schedule().places.size();
  REQUIRE(places > 2);
  for (std::size_t place = 0; place < places; ++place) {
    CHECK(engine->one_driver(place));
  }
}

TEST_CASE("A lane's thread, bound to its core, knows of the others", "[train][one_driver]") {
  constexpr int most = 8;
  const int cores = lane::process_cores();
  if (cores > most) {
    test::skip_without(
        "few-cores", "one lane for each of " + std::to_string(cores) + " cores would be too many");
  }
  std::vector<lane::LaneSpec> specs = workers(cores);
  for (int core = 0; core < cores; ++core) {
    specs[static_cast<std::size_t>(core)].cores = {core};
  }
  SmallRun run(std::move(specs));
  const auto engine = run.engine(run.split(20));

  std::chrono::microseconds spin_timeout{};
  run.lanes[0].run_and_wait([&] { spin_timeout = engine->spin_timeout(); });
  CHECK(engine->spin_timeout() == lane::own_core_spin_timeout);
  CHECK(spin_timeout == lane::own_core_spin_timeout);
}

TEST_CASE("A message that begins a step sets out no sooner than the step", "[train][one_driver]") {
  constexpr double latency_s = 5e-3;
  SmallRun run({worker("root", latency_s), worker("second", latency_s)});
  run.options.cores = one_core;
  const auto engine = run.engine(run.schedule_of(policies::data_parallel(
      {.exchange = policies::Exchange::chunked_broadcast, .shares = {}, .chunks = 1})));
  engine->step(run.batch(), 1);
  engine->trace().clear();
  engine->step(run.batch(), 2);
  using schedule::Queue;

  const auto updates = records_of(*engine, 0, Queue::compute);
  const auto broadcasts = records_of(*engine, 0, Queue::outgoing);
  REQUIRE(broadcasts.size() == 1);
  const double step_s = updates.back().end_s - broadcasts.front().start_s;
  // Weights go out and come in, the other's gradients go out and are read.
  CHECK(step_s >= 0.999 * 4.0 * latency_s);
  CHECK(broadcasts.front().end_s - broadcasts.front().start_s >= 0.999 * latency_s);

  engine->step(run.batch(), 3);
  CHECK(records_of(*engine, 0, Queue::outgoing).back().start_s >= updates.back().end_s);
}

TEST_CASE("Links work while the one driver of their lane computes", "[train][one_driver]") {
  Piped piped(one_core);
  using schedule::Queue;

  const auto sends = records_of(*piped.engine, 0, Queue::outgoing);
  const auto computing = records_of(*piped.engine, 0, Queue::compute);

  REQUIRE(sends.size() == 4);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    CHECK(sends[i].end_s - sends[i].start_s >= 0.999 * Piped::latency_s);
    CHECK((i == 0 || sends[i].start_s >= sends[i - 1].end_s));
  }
  const auto beside = [&](const train::TaskRecord& task) {
    return task.start_s > sends[0].start_s && task.end_s < sends[0].end_s;
  };
  // The copy of the second micro-batch is on its way at the same time, as on a link of two ways.
  CHECK(std::ranges::any_of(computing, beside));
}

TEST_CASE("No task of one driver starts before those that it waits for have ended",
          "[train][one_driver]") {
  Piped piped(one_core);
  const schedule::Schedule& schedule = piped.engine->schedule();
  std::vector<train::TaskRecord> by_task(schedule.tasks.size());
  for (schedule::Place place = 0; place < 2; ++place) {
    for (std::size_t queue = 0; queue < schedule::queue_count; ++queue) {
      for (const auto& record :
           records_of(*piped.engine, place, static_cast<schedule::Queue>(queue))) {
        by_task[static_cast<std::size_t>(record.task)] = record;
      }
    }
  }

  for (std::size_t id = 0; id < by_task.size(); ++id) {
    REQUIRE(by_task[id].step == 2);
    for (const schedule::TaskId before : schedule.tasks[id].after) {
      CHECK(by_task[id].start_s >= by_task[static_cast<std::size_t>(before)].end_s);
    }
  }
}

TEST_CASE("A profile says which places have one driver", "[train][one_driver]") {
  for (const int cores : {one_core, cores_to_spare}) {
    SmallRun run(workers(2, 1e-4));
    run.options.cores = cores;
    const measure::ProfileRequest request{run.graph,   *run.optimizer, run.lanes, {}, run.options,
                                          run.batch(), 0.005,          {},        0};

    const plan::Profile profile = measure::measure_profile(request);

    CHECK(profile.cores == cores);
    CHECK(profile.places[1].one_driver == (cores == one_core));
    CHECK(profile.spin_timeout_s ==
          std::chrono::duration<double>(run.lanes.spin_timeout(cores)).count());
    CHECK(profile.handover_s + profile.wake_s > 0.0);
  }
}

}  // namespace zygos::test_one_driver
