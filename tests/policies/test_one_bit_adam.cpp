// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/one_bit.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <functional>

namespace zygos::policies::test_one_bit_adam {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Codec;
using schedule::Schedule;
using schedule::Task;
using schedule::TaskKind;

plan::Problem problem_for(std::size_t workers, schedule::ModelOutline model = test::chain_of(6)) {
  auto problem = test::lanes_problem(workers, 25, std::move(model));
  problem.one_bit.after = 10;
  return problem;
}

Schedule made(const plan::Problem& problem, OneBitAdamOptions options = {}) {
  return one_bit_adam(std::move(options))->schedule(problem, nullptr);
}

TEST_CASE("Two lanes that exchange one bit an element make the golden schedule") {
  auto problem = test::host_and_device();
  problem.one_bit.after = 10;

  CHECK(made(problem).text() == test::golden("one_bit_adam"));
}

TEST_CASE("A compressed step moves the bytes of the formula, a step before it those of a ring") {
  for (std::size_t workers = 2; workers <= 6; ++workers) {
    for (const std::int64_t bucket : {1, 300, 25'000'000}) {
      const auto problem = problem_for(workers);
      const Schedule schedule = made(problem, {.shares = {}, .bucket_bytes = bucket});
      const auto others = static_cast<std::int64_t>(workers) - 1;
      std::int64_t coded = 0;
      std::int64_t elements = 0;
      for (const schedule::ElementRange& part : schedule.parts) {
        coded += one_bit_bytes(part.count(), 4);
        elements += part.count();
      }
      CAPTURE(workers, bucket);

      CHECK(elements == problem.model.parameters_of(problem.model.all_nodes()).count());
      CHECK(schedule.traffic_bytes() == 2 * others * coded);
      CHECK(schedule.traffic_bytes(false) == 2 * others * 4 * elements);
      CHECK(schedule.traffic_messages() == 2 * others * std::ssize(schedule.parts));
    }
  }
}

TEST_CASE("Every worker compresses every part, and its owner the sum") {
  const Schedule schedule = made(problem_for(4));
  const auto parts = static_cast<std::size_t>(std::ssize(schedule.parts));
  std::size_t of_sums = 0;
  for (const Task& task : schedule.tasks) {
    of_sums += task.kind == TaskKind::compress && task.reduced ? 1 : 0;
  }

  CHECK(of_sums == parts);
  CHECK(static_cast<std::size_t>(
            std::ranges::count(schedule.tasks, TaskKind::compress, &Task::kind)) == 5 * parts);
}

TEST_CASE("Shares divide the batch in proportion") {
  const Schedule schedule = made(problem_for(2), {.shares = {3.0, 2.0}, .bucket_bytes = 300});

  CHECK(schedule.samples_of(0).count() == 15);
  CHECK(schedule.samples_of(1).count() == 10);
}

TEST_CASE("What one bit an element cannot do is refused with the reason") {
  struct Case {
    std::string reason;
    std::function<void(plan::Problem&)> change;
  };
  const std::vector<Case> cases{
      {"clip_norm", [](plan::Problem& problem) { problem.clips = true; }},
      {"strict mode", [](plan::Problem& problem) { problem.chunk = 5; }},
      {"set optimizer.type to one_bit_adam",
       [](plan::Problem& problem) { problem.one_bit.after = 0; }},
      {"link_precision.gradients",
       [](plan::Problem& problem) { problem.codecs.gradients = Codec::bf16; }},
      {"statistics over samples",
       [](plan::Problem& problem) { problem.model.nodes[1].statistics = 4; }},
      {"lanes", [](plan::Problem& problem) { problem.places.resize(1); }},
  };
  for (const Case& one : cases) {
    auto problem = problem_for(2);
    one.change(problem);
    CHECK_THROWS_MATCHES(made(problem), UsageError, MessageMatches(ContainsSubstring(one.reason)));
  }
}

TEST_CASE("The validator refuses one bit an element of what has not been compressed") {
  const Schedule good = made(problem_for(3));
  REQUIRE(validate(good).empty());
  for (std::size_t id = 0; id < good.tasks.size(); ++id) {
    if (good.tasks[id].kind != TaskKind::compress) {
      continue;
    }
    Schedule bad = good;
    bad.tasks[id].elements =
        good.parts[0] == good.tasks[id].elements ? good.parts[1] : good.parts[0];
    CHECK_FALSE(validate(bad).empty());
  }
}

}  // namespace
}  // namespace zygos::policies::test_one_bit_adam
