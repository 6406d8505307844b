// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages that travel as bf16, in the schedules of policies.
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::policies::test_link_codecs {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Codec;
using schedule::LinkCodecs;
using schedule::Payload;
using schedule::Schedule;
using schedule::Task;

constexpr LinkCodecs all_rounded{Codec::bf16, Codec::bf16, Codec::bf16};

Schedule made(const train::PolicyPtr& policy, plan::Problem problem, LinkCodecs codecs = {}) {
  problem.codecs = codecs;
  return policy->schedule(problem, nullptr);
}

train::PolicyPtr by(Exchange exchange) {
  return data_parallel({.exchange = exchange, .shares = {}, .bucket_bytes = 300});
}

std::int64_t bytes_sent(const Schedule& schedule, Payload payload) {
  std::int64_t bytes = 0;
  for (const Task& task : schedule.tasks) {
    bytes += schedule::writes_messages(task.kind) && task.payload == payload ? task.bytes : 0;
  }
  return bytes;
}

TEST_CASE("Two lanes whose gradients travel as bf16 round a ring make the golden schedule") {
  CHECK(made(by(Exchange::ring), test::host_and_device(), {.gradients = Codec::bf16}).text() ==
        test::golden("data_parallel_ring_bf16"));
}

TEST_CASE("As bf16 what travels takes half the bytes, and nothing else changes") {
  const auto problem = test::lanes_problem(3, 24, test::chain_of(6));
  const StageOptions stages{.cuts = {}, .lanes = {}};
  for (const train::PolicyPtr& policy :
       {by(Exchange::ring), by(Exchange::sharded), by(Exchange::all_reduce), by(Exchange::central),
        zero_offload({.owner = {}, .bucket_bytes = 300}),
        gpipe({.micro_batches = 2, .stages = stages}),
        pipedream({.micro_batches = 3, .replicas = {}, .stages = stages})}) {
    const Schedule exact = made(policy, problem);
    const Schedule rounded = made(policy, problem, all_rounded);
    CAPTURE(exact.policy);

    CHECK(rounded.tasks.size() == exact.tasks.size());
    CHECK(rounded.traffic_messages() == exact.traffic_messages());
    for (const Payload payload :
         {Payload::gradients, Payload::activations, Payload::activation_gradients}) {
      CHECK(2 * bytes_sent(rounded, payload) == bytes_sent(exact, payload));
    }
    CHECK(bytes_sent(rounded, Payload::weights) == bytes_sent(exact, Payload::weights));
  }
}

TEST_CASE("A codec is chosen for each payload") {
  const auto problem = test::lanes_problem(2, 24, test::chain_of(6));
  const auto policy = gpipe({.micro_batches = 2, .stages = {.cuts = {}, .lanes = {}}});
  const Schedule exact = made(policy, problem);
  const Schedule rounded = made(policy, problem, {.activations = Codec::bf16});

  CHECK(2 * bytes_sent(rounded, Payload::activations) == bytes_sent(exact, Payload::activations));
  CHECK(bytes_sent(rounded, Payload::activation_gradients) ==
        bytes_sent(exact, Payload::activation_gradients));
}

TEST_CASE("Strict mode refuses messages that are rounded") {
  auto problem = test::lanes_problem(2, 24, test::chain_of(6));
  problem.chunk = 4;

  CHECK_THROWS_MATCHES(made(by(Exchange::all_reduce), problem, {.gradients = Codec::bf16}),
                       UsageError, MessageMatches(ContainsSubstring("link_precision")));
}

TEST_CASE("The validator refuses a message that is read as another codec than it was written") {
  const auto problem = test::lanes_problem(2, 24, test::chain_of(6));
  Schedule schedule = made(by(Exchange::ring), problem, {.gradients = Codec::bf16});
  for (Task& task : schedule.tasks) {
    if (task.kind == schedule::TaskKind::reduce) {
      task.codec = Codec::exact;
      break;
    }
  }

  const auto findings = validate(schedule);

  REQUIRE_FALSE(findings.empty());
  CHECK_THAT(findings.front(), ContainsSubstring("expects it exact"));
}

TEST_CASE("Weights have no codec") {
  const auto problem = test::lanes_problem(2, 24, test::chain_of(6));
  Schedule schedule = made(by(Exchange::sharded), problem);
  for (Task& task : schedule.tasks) {
    task.codec = task.payload == Payload::weights ? Codec::bf16 : task.codec;
  }

  const auto findings = validate(schedule);

  REQUIRE_FALSE(findings.empty());
  CHECK_THAT(findings.front(), ContainsSubstring("they travel exact"));
}

}  // namespace
}  // namespace zygos::policies::test_link_codecs
