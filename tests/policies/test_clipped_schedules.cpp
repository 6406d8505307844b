// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules whose updates are clipped by the norm of the whole gradient.
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

namespace zygos::policies::test_clipped_schedules {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Task;
using schedule::TaskKind;

plan::Problem clipped(plan::Problem problem) {
  problem.clips = true;
  return problem;
}

train::PolicyPtr sharded() {
  DataParallelOptions options;
  options.exchange = Exchange::sharded;
  return data_parallel(options);
}

/// All that have several places, with `lanes` of them.
std::vector<train::PolicyPtr> policies_that_clip() {
  std::vector<train::PolicyPtr> all{layer_placement({}),
                                    gpipe({4, Recompute::never, {}}),
                                    gpipe({4, Recompute::always, {}}),
                                    one_f_one_b({4, false, {}}),
                                    hippie({1, 4, {}}),
                                    hippie({2, 4, {}}),
                                    pipedream_2bw({3, 0, {}})};
  for (const auto which :
       {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
    DataParallelOptions options;
    options.exchange = which;
    all.push_back(data_parallel(options));
  }
  return all;
}

std::int64_t count_of(const schedule::Schedule& schedule, TaskKind kind) {
  return std::ranges::count(schedule.tasks, kind, &Task::kind);
}

TEST_CASE("GPipe that clips makes the golden schedule") {
  CHECK(gpipe({2, Recompute::never, {}})
            ->schedule(clipped(test::host_and_device()), nullptr)
            .text() == test::golden("gpipe_clipped"));
}

TEST_CASE("Shards that are clipped make the golden schedule") {
  CHECK(sharded()->schedule(clipped(test::host_and_device()), nullptr).text() ==
        test::golden("data_parallel_sharded_clipped"));
}

TEST_CASE("Every policy but PipeDream clips: its schedule is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t lanes = 2; lanes <= 5; ++lanes) {
      for (const auto& policy : policies_that_clip()) {
        const auto problem = clipped(test::lanes_problem(lanes, 48, model));
        const auto schedule = policy->schedule(problem, nullptr);
        CAPTURE(policy->keyword(), lanes, model.node_count());

        CHECK(schedule::validate(schedule).empty());
        CHECK(schedule::validate(schedule.for_evaluation()).empty());
        CHECK(std::ranges::all_of(schedule.tasks, [](const Task& task) {
          return task.kind != TaskKind::update || task.clips;
        }));
        CHECK(count_of(schedule, TaskKind::norm) > 0);
      }
    }
  }
}

TEST_CASE("A norm costs each stage a message of a number for every layer to each of the others") {
  const auto problem = test::lanes_problem(4, 48, test::chain_of(8));
  for (const auto& policy : {layer_placement({}), gpipe({4, Recompute::never, {}}),
                             one_f_one_b({4, false, {}}), pipedream_2bw({3, 0, {}})}) {
    const auto plain = policy->schedule(problem, nullptr);
    const auto clipping = policy->schedule(clipped(problem), nullptr);
    const auto updates = static_cast<std::int64_t>(plain.updates.size());
    CAPTURE(plain.policy);
    CHECK(clipping.traffic_messages() - plain.traffic_messages() == updates * 4 * 3);
    CHECK(clipping.traffic_bytes() - plain.traffic_bytes() == updates * 8 * 8 * 3);
  }
}

// Forwards and backwards begin when they begin without a norm: only updates wait for it.
TEST_CASE("A norm delays no pass of a policy that updates once a step") {
  for (std::size_t stages = 2; stages <= 6; ++stages) {
    for (const auto& policy : {layer_placement({}), gpipe({8, Recompute::never, {}}),
                               gpipe({8, Recompute::always, {}}), one_f_one_b({8, false, {}})}) {
      const auto problem = test::lanes_problem(stages, 48, test::with_skips());
      const auto plain = policy->schedule(problem, nullptr);
      const auto clipping = policy->schedule(clipped(problem), nullptr);
      const auto plain_times = test::unit_times(plain);
      const auto times = test::unit_times(clipping);
      CAPTURE(plain.policy, stages);
      CHECK(times.makespan_s == plain_times.makespan_s);
      std::size_t compared = 0;
      for (std::size_t id = 0; id < plain.tasks.size(); ++id) {
        const std::string name = plain.name_of(static_cast<schedule::TaskId>(id));
        for (std::size_t other = 0; other < clipping.tasks.size(); ++other) {
          if (plain.tasks[id].kind != TaskKind::update &&
              clipping.name_of(static_cast<schedule::TaskId>(other)) == name) {
            CHECK(times.tasks[other].start_s == plain_times.tasks[id].start_s);
            ++compared;
          }
        }
      }
      CHECK(compared ==
            plain.tasks.size() - static_cast<std::size_t>(count_of(plain, TaskKind::update)));
    }
  }
}

// Its last stage waits for the backwards of all stages before it, once an update.
TEST_CASE("PipeDream-2BW that clips waits (K - 1) backwards an update, less than a flush takes") {
  for (std::size_t stages = 2; stages <= 4; ++stages) {
    for (const std::int64_t accumulate : {4, 8}) {
      const auto problem = test::lanes_problem(stages, 4 * 64, test::chain_of(8));
      const auto policy = pipedream_2bw({4, accumulate, {}});
      const double plain = test::unit_times(policy->schedule(problem, nullptr)).makespan_s;
      const double clips = test::unit_times(policy->schedule(clipped(problem), nullptr)).makespan_s;
      const auto wait = static_cast<double>(stages - 1);
      CAPTURE(stages, accumulate);
      CHECK(clips >= plain);
      CHECK(clips - plain <= 3.0 * 2.0 * wait);
    }
  }
}

TEST_CASE("PipeDream of several stages refuses to clip and says what to take instead") {
  const auto problem = clipped(test::lanes_problem(3, 48, test::chain_of(6)));
  CHECK_THROWS_MATCHES(
      pipedream({})->schedule(problem, nullptr), UsageError,
      MessageMatches(ContainsSubstring("policy 'pipedream'") && ContainsSubstring("clip_norm") &&
                     ContainsSubstring("Use pipedream_2bw")));
}

TEST_CASE("Replicas measure what they have and send no squares") {
  for (const auto& policy : policies_that_clip()) {
    const auto problem = test::lanes_problem(3, 48, test::chain_of(6));
    const auto schedule = policy->schedule(clipped(problem), nullptr);
    if (schedule.stages.size() == 1 && schedule.part_owners.empty()) {
      CHECK(schedule.traffic_bytes() == policy->schedule(problem, nullptr).traffic_bytes());
    }
  }
}

}  // namespace
}  // namespace zygos::policies::test_clipped_schedules
