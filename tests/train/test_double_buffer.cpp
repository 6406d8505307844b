// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches that are loaded a step ahead: schedule::loads_ahead().
#include "small_run.hpp"

#include "zygos/io/sample_source.hpp"
#include "zygos/plan/assumed_profile.hpp"
#include "zygos/plan/simulator.hpp"
#include "zygos/train/look_ahead.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace zygos::test_double_buffer {
namespace {

using Catch::Matchers::ContainsSubstring;
using schedule::TaskKind;
using test::SmallRun;

constexpr std::size_t steps = 7;

/// Samples of a step: others in each, and fewer of them in the third and the last.
std::vector<std::uint32_t> ids_of(std::size_t step) {
  std::vector<std::uint32_t> ids(step == 3 || step == steps ? 27 : 40);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::uint32_t>((i * 7 + step * 31) % 200);
  }
  return ids;
}

/// What a caller says of the batch behind that of a step.
using Announce = std::function<std::optional<std::size_t>(std::size_t step)>;

std::optional<std::size_t> the_next_one(std::size_t step) {
  return step < steps ? std::optional(step + 1) : std::nullopt;
}

schedule::Schedule schedule_of(const SmallRun& run, const train::PolicyPtr& policy,
                               std::int32_t batch_slots) {
  plan::Problem problem = run.problem();
  problem.batch_slots = batch_slots;
  return policy->schedule(problem, nullptr);
}

/// Hash of the weights after all steps; an evaluation in between must not disturb a batch that
/// waits.
std::string trained(SmallRun& run, schedule::Schedule schedule, const Announce& announce) {
  const auto engine = run.engine(std::move(schedule));
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::vector<std::uint32_t> ids = ids_of(step);
    const auto announced = announce(step);
    const std::vector<std::uint32_t> next = announced ? ids_of(*announced) : ids;
    const train::Batch batch{run.rows.inputs, run.rows.targets, ids};
    const train::Batch behind{run.rows.inputs, run.rows.targets, next};
    engine->step(batch, step, announced ? &behind : nullptr);
    if (step % 2 == 0) {
      engine->evaluate(run.batch());
    }
  }
  return engine->weights_hash();
}

std::vector<train::PolicyPtr> all_kinds() {
  return {policies::single({.place = "device"}),
          policies::coarse_split({.share = {}, .samples = 13}),
          policies::gpipe({.micro_batches = 4, .stages = {}}),
          policies::one_f_one_b({.micro_batches = 5, .stages = {}}),
          policies::tensor_parallel({}),
          policies::zero_offload({})};
}

/// A file whose samples from `first` on can't be read.
class BrokenSource final : public io::SampleSource {
 public:
  explicit BrokenSource(std::int64_t first) : first_(first) {}
  void read(std::int64_t first, std::int64_t count, std::byte* inputs,
            std::byte* targets) const override {
    if (first + count > first_) {
      throw IoError("sample " + std::to_string(first_) + " is gone");
    }
    std::memset(inputs, 0, sizeof(float) * static_cast<std::size_t>(count));
    std::memset(targets, 0, sizeof(float) * static_cast<std::size_t>(count));
  }
  void announce(std::int64_t, std::int64_t) const override {}
  std::size_t bytes() const override { return 0; }

 private:
  std::int64_t first_;
};

io::Dataset broken_data(std::int64_t first) {
  io::Dataset data;
  data.name = "broken";
  data.inputs = {DType::f32, Shape{100, 1}, nullptr};
  data.targets = {DType::f32, Shape{100, 1}, nullptr};
  data.source = std::make_shared<BrokenSource>(first);
  return data;
}

lane::LaneSpec linked_lane(double latency_s) {
  lane::LaneSpec spec = test::emulated_lane();
  spec.link.latency_s = latency_s;
  return spec;
}

}  // namespace

TEST_CASE("Batches that are loaded a step ahead change no bit, whatever is said of the next one",
          "[train][double_buffer]") {
  for (const auto& policy : all_kinds()) {
    CAPTURE(policy->keyword());
    SmallRun run(test::host_and_device());
    const std::string expected = trained(run, schedule_of(run, policy, 1), the_next_one);
    const auto ahead = schedule_of(run, policy, 2);
    REQUIRE(schedule::validate(ahead).empty());
    CHECK(trained(run, ahead, the_next_one) == expected);
    CHECK(trained(run, ahead, [](std::size_t) { return std::nullopt; }) == expected);
    CHECK(trained(run, ahead, [](std::size_t step) {
            return step % 3 == 0 ? std::nullopt : std::optional(step % 2 == 0 ? step : step + 1);
          }) == expected);
  }
}

TEST_CASE(
    "Only places that do not read host memory load ahead, and their forward waits for no copy",
    "[train][double_buffer]") {
  SmallRun run(test::host_and_device());
  const auto schedule = schedule_of(run, policies::coarse_split({.share = {}, .samples = 13}), 2);
  CHECK_FALSE(schedule::loads_ahead(schedule, 0));
  CHECK(schedule::loads_ahead(schedule, 1));
  const std::string text = schedule.text();
  CHECK_THAT(text, ContainsSubstring("batch 40, loaded a step ahead\n"));
  CHECK_THAT(text, ContainsSubstring("load@host mb 0 samples 0-13;"));
  CHECK_THAT(text, ContainsSubstring("copy@device mb 1 samples 13-40 of the next step; incoming;"));
  const auto copy = std::ranges::find(schedule.tasks, TaskKind::copy, &schedule::Task::kind);
  REQUIRE(copy != schedule.tasks.end());
  const auto id = static_cast<schedule::TaskId>(copy - schedule.tasks.begin());
  for (const schedule::Task& task : schedule.tasks) {
    CHECK(std::ranges::find(task.after, id) == task.after.end());
  }
}

TEST_CASE("A copy of the next batch is under way while a step computes", "[train][double_buffer]") {
  constexpr double latency_s = 0.05;
  SmallRun run({linked_lane(latency_s)});
  const auto policy = policies::single({.place = "device"});
  const auto engine = run.engine(schedule_of(run, policy, 2));
  for (std::size_t step = 1; step <= 3; ++step) {
    const std::vector<std::uint32_t> ids = ids_of(step);
    const std::vector<std::uint32_t> next = ids_of(step + 1);
    const train::Batch batch{run.rows.inputs, run.rows.targets, ids};
    const train::Batch behind{run.rows.inputs, run.rows.targets, next};
    engine->step(batch, step, &behind);
  }
  const auto times = train::newest_step(engine->trace(), engine->schedule());
  const auto time_of = [&](TaskKind kind) {
    const auto& tasks = engine->schedule().tasks;
    return times[static_cast<std::size_t>(std::ranges::find(tasks, kind, &schedule::Task::kind) -
                                          tasks.begin())];
  };
  const plan::TaskTime copy = time_of(TaskKind::copy);
  CHECK(copy.end_s - copy.start_s >= latency_s);
  CHECK(time_of(TaskKind::forward).end_s < copy.end_s);
}

TEST_CASE("The second slot of a batch is planned, and used", "[train][double_buffer]") {
  SmallRun run({test::emulated_lane()});
  const auto policy = policies::single({.place = "device"});
  const auto inputs = [&](std::int32_t batch_slots) {
    const auto engine = run.engine(schedule_of(run, policy, batch_slots));
    const std::vector<std::uint32_t> ids = ids_of(1);
    const std::vector<std::uint32_t> next = ids_of(2);
    const train::Batch behind{run.rows.inputs, run.rows.targets, next};
    engine->step({run.rows.inputs, run.rows.targets, ids}, 1, &behind);
    const train::LaneUsage usage = engine->memory().front();
    return std::pair(usage.usage[memory::Category::inputs], usage.used[memory::Category::inputs]);
  };
  const auto [planned_one, used_one] = inputs(1);
  const auto [planned_two, used_two] = inputs(2);
  CHECK(planned_two == 2 * planned_one);
  CHECK(used_two == 2 * used_one);
}

TEST_CASE("A plan knows that a batch loaded ahead costs no time", "[train][double_buffer]") {
  SmallRun run({test::emulated_lane()});
  const auto policy = policies::single({.place = "device"});
  const plan::Profile profile = plan::assumed_profile(run.problem());
  const auto step_s = [&](std::int32_t batch_slots) {
    return plan::simulate(schedule_of(run, policy, batch_slots), profile).makespan_s;
  };
  CHECK(step_s(1) > step_s(2));
}

TEST_CASE("A batch that can't be read is told of at its turn, not when it is looked at",
          "[train][double_buffer]") {
  const io::Dataset data = broken_data(45);
  for (const bool looks : {false, true}) {
    io::BatchFeed feed(data, {.batch = 10});
    train::LookAhead batches(feed, looks);
    batches.seek(1, 10);
    for (int step = 1; step <= 4; ++step) {
      CHECK(batches.next().samples() == 10);
    }
    CHECK(batches.behind() == nullptr);
    CHECK_THROWS_WITH(batches.next(), ContainsSubstring("sample 45 is gone"));
    batches.seek(1, 2);  // nothing is left of the failure
    CHECK(batches.next().samples() == 10);
  }
}

TEST_CASE("A look ahead gives the batches of its feed", "[train][double_buffer]") {
  const io::Dataset data = test::small_data(50);
  for (const bool looks : {false, true}) {
    io::BatchFeed feed(data, {.batch = 20, .shuffle = true, .seed = 5});
    io::BatchFeed expected(data, {.batch = 20, .shuffle = true, .seed = 5});
    train::LookAhead batches(feed, looks);
    batches.seek(2, 8);
    expected.seek(2, 8);
    for (int step = 2; step <= 8; ++step) {
      const train::Batch& batch = batches.next();
      CHECK(std::ranges::equal(batch.ids, expected.next().ids));
      REQUIRE((batches.behind() != nullptr) == (looks && step < 8));
      if (looks && step < 8) {
        io::BatchFeed later(data, {.batch = 20, .shuffle = true, .seed = 5});
        later.seek(step + 1, 8);
        CHECK(std::ranges::equal(batches.behind()->ids, later.next().ids));
      }
    }
    CHECK_THROWS_AS(batches.next(), UsageError);
  }
}

}  // namespace zygos::test_double_buffer
