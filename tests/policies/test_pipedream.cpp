// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <set>

namespace zygos::policies::test_pipedream {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::Task;
using schedule::TaskKind;

schedule::Schedule piped(const plan::Problem& problem, PipeDreamOptions options) {
  return pipedream(std::move(options))->schedule(problem, nullptr);
}

PipeDreamOptions with(std::int64_t micro_batches, std::vector<std::int64_t> replicas = {}) {
  PipeDreamOptions options;
  options.micro_batches = micro_batches;
  options.replicas = std::move(replicas);
  return options;
}

std::vector<std::size_t> versions_by_place(const schedule::Schedule& schedule) {
  std::vector<std::size_t> versions;
  for (const schedule::Place place : schedule.active_places()) {
    versions.push_back(test::versions_of(schedule, place));
  }
  return versions;
}

/// By micro-batch: the version that the place's forward used.
std::vector<schedule::Version> forward_versions(const schedule::Schedule& schedule,
                                                schedule::Place place) {
  std::vector<schedule::Version> versions;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::forward && task.place == place) {
      versions.push_back(task.version);
    }
  }
  return versions;
}

TEST_CASE("PipeDream with two stages and three micro-batches makes the golden schedule") {
  CHECK(piped(test::host_and_device(), with(3)).text() == test::golden("pipedream"));
}

TEST_CASE("PipeDream that stashes in host memory makes the golden schedule") {
  PipeDreamOptions options = with(4);
  options.stash = schedule::Tier::host;
  CHECK(piped(test::lanes_problem(3, 12, test::chain_of(3)), options).text() ==
        test::golden("pipedream_stash_host"));
  options.average_every = 2;
  CHECK_THROWS_MATCHES(pipedream(options), UsageError,
                       MessageMatches(ContainsSubstring("stash is host")));
  options.stash = schedule::Tier::file;
  CHECK_THROWS_MATCHES(pipedream(options), UsageError,
                       MessageMatches(ContainsSubstring("stash is file")));
}

TEST_CASE("PipeDream that stashes in files makes the golden schedule") {
  PipeDreamOptions options = with(5);
  options.stash = schedule::Tier::file;
  // The first lane has four versions and reads host memory, the second three and does not.
  CHECK(piped(test::lanes_problem(4, 10, test::chain_of(4)), options).text() ==
        test::golden("pipedream_stash_file"));
}

TEST_CASE("Stashes in files leave a lane two versions, and move as many bytes as it stashes") {
  for (std::size_t stages = 2; stages <= 5; ++stages) {
    for (const bool vertical_sync : {false, true}) {
      const auto problem = test::lanes_problem(stages, 64, test::with_skips());
      PipeDreamOptions options = with(12);
      options.vertical_sync = vertical_sync;
      const auto on_lane = piped(problem, options);
      options.stash = schedule::Tier::file;
      const auto in_file = piped(problem, options);

      CHECK(schedule::validate(in_file.for_evaluation()).empty());
      for (const schedule::Place place : in_file.active_places()) {
        CAPTURE(stages, vertical_sync, place);
        const std::size_t versions = test::versions_of(on_lane, place);
        std::set<std::int32_t> on_place;
        std::set<std::int32_t> filed;
        for (const Task& task : in_file.tasks) {
          for (const schedule::Buffer& buffer : task.writes) {
            if (buffer.place == place && buffer.kind == schedule::BufferKind::weights) {
              on_place.insert(buffer.slot);
            }
            if (buffer.place == place && buffer.kind == schedule::BufferKind::spilled_weights) {
              filed.insert(buffer.slot);
            }
          }
        }
        CHECK(on_place.size() == std::min<std::size_t>(versions, 2));
        CHECK(filed.size() == (versions > 2 ? versions - 1 : 0));
        CHECK(test::count_of(in_file, TaskKind::write_weights, place) ==
              (versions > 2 ? test::count_of(on_lane, TaskKind::stash, place) : 0));
      }
    }
  }
}

TEST_CASE("A step waits for a slow disk under stashes in files, and not for one that keeps up") {
  PipeDreamOptions options = with(40);
  const auto problem = test::lanes_problem(4, 80, test::chain_of(4));
  const double on_lane = test::unit_times(piped(problem, options)).makespan_s;
  options.stash = schedule::Tier::file;
  const auto made = piped(problem, options);
  const auto with_disk = [&](double seconds) {
    return plan::simulate(made,
                          [&](const Task& task) {
                            return task.kind == TaskKind::forward        ? 1.0
                                   : task.kind == TaskKind::backward     ? 2.0
                                   : task.queue == schedule::Queue::file ? seconds
                                                                         : 0.0;
                          })
        .makespan_s;
  };
  // A version is read while the next forward pass runs, and written during that and a backward one.
  CHECK(with_disk(1.0) == on_lane);
  const auto moves = static_cast<double>(test::count_of(made, TaskKind::write_weights, 0) +
                                         test::count_of(made, TaskKind::read_weights, 0));
  CHECK(with_disk(3.0) >= 3.0 * moves);
  CHECK(3.0 * moves > 1.5 * on_lane);
}

TEST_CASE("PipeDream with a first stage on two lanes makes the golden schedule") {
  CHECK(piped(test::lanes_problem(3, 12, test::chain_of(2)), with(4, {2, 1})).text() ==
        test::golden("pipedream_replicas"));
}

TEST_CASE("Lanes of one stage share the samples of a batch") {
  const auto problem = test::lanes_problem(3, 60, test::chain_of(4));

  const auto schedule = pipedream(with(6, {2, 1}))->schedule(problem, nullptr);

  CHECK(schedule.sample_counts() == std::vector<std::int64_t>{30, 30, 60});
}

TEST_CASE("PipeDream with vertical sync and averages makes the golden schedule") {
  PipeDreamOptions options = with(4);
  options.vertical_sync = true;
  options.average_every = 5;

  CHECK(piped(test::host_and_device(), options).text() == test::golden("pipedream_vertical_sync"));
}

TEST_CASE("Every PipeDream is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t stages = 2; stages <= 5; ++stages) {
      for (const std::int64_t micro_batches : {1, 2, 3, 5, 7, 12, 20}) {
        for (const bool vertical_sync : {false, true}) {
          for (const std::int64_t average_every : {0, 2}) {
            CAPTURE(model.node_count(), stages, micro_batches, vertical_sync, average_every);
            PipeDreamOptions options = with(micro_batches);
            options.vertical_sync = vertical_sync;
            options.average_every = average_every;
            const auto schedule = piped(test::lanes_problem(stages, 25, model), options);

            CHECK(schedule::validate(schedule).empty());
            CHECK(schedule::validate(schedule.for_evaluation()).empty());
          }
        }
      }
    }
  }
}

TEST_CASE("Stages of several lanes are valid, train and evaluate") {
  using Replicas = std::vector<std::int64_t>;
  for (const auto& model : {test::chain_of(5), test::with_skips()}) {
    for (const Replicas& replicas :
         {Replicas{2, 1}, {1, 2}, {2, 2}, {3, 2, 1}, {1, 3, 2}, {2, 1, 1, 1}}) {
      for (const std::int64_t rounds : {1, 2, 5}) {
        for (const std::int64_t average_every : {0, 3}) {
          for (const bool in_file : {false, average_every == 0}) {
            CAPTURE(replicas.size(), replicas[0], rounds, average_every, in_file);
            PipeDreamOptions options = with(6 * rounds, replicas);
            options.average_every = average_every;
            options.stash = in_file ? schedule::Tier::file : schedule::Tier::lane;
            const auto schedule = piped(test::lanes_problem(6, 48, model), options);

            CHECK(schedule::validate(schedule).empty());
            CHECK(schedule::validate(schedule.for_evaluation()).empty());
          }
        }
      }
    }
  }
}

TEST_CASE("Four stages keep 4, 3, 2 and 1 versions of their weights") {
  for (const std::int64_t micro_batches : {7, 8, 30}) {
    const auto schedule =
        piped(test::lanes_problem(4, 64, test::with_skips()), with(micro_batches));

    CHECK(versions_by_place(schedule) == std::vector<std::size_t>{4, 3, 2, 1});
  }
}

TEST_CASE("A first stage on two lanes keeps 2 versions, the second stage 1") {
  const auto schedule = piped(test::lanes_problem(3, 64, test::chain_of(4)), with(8, {2, 1}));

  CHECK(schedule.stage_of == std::vector<schedule::Stage>{0, 0, 1});
  CHECK(versions_by_place(schedule) == std::vector<std::size_t>{2, 2, 1});
}

TEST_CASE("A short pipeline keeps only the versions it needs") {
  CHECK(versions_by_place(piped(test::lanes_problem(4, 64, test::chain_of(4)), with(1))) ==
        std::vector<std::size_t>(4, 1));
  CHECK(versions_by_place(piped(test::lanes_problem(4, 64, test::chain_of(4)), with(4))) ==
        // All four forwards of the first stage come before its first update; the second stage's
        // last comes after, with v1, while another with v0 is in flight.
        std::vector<std::size_t>{2, 3, 2, 1});
}

TEST_CASE("With vertical sync each of K stages keeps K versions") {
  for (std::size_t stages = 2; stages <= 5; ++stages) {
    PipeDreamOptions options = with(20);
    options.vertical_sync = true;

    CHECK(versions_by_place(piped(test::lanes_problem(stages, 64, test::chain_of(5)), options)) ==
          std::vector<std::size_t>(stages, stages));
  }
}

TEST_CASE("Gradients of stage s are K - 1 - s updates old once the pipeline is full") {
  for (std::int32_t stages = 2; stages <= 5; ++stages) {
    const auto schedule = piped(
        test::lanes_problem(static_cast<std::size_t>(stages), 64, test::with_skips()), with(12));
    for (schedule::Place stage = 0; stage < stages; ++stage) {
      const auto staleness = test::staleness_of(schedule, stage);
      REQUIRE(staleness.size() == 12);
      for (std::int32_t update = 0; update < 12; ++update) {
        CAPTURE(stages, stage, update);
        CHECK(staleness[static_cast<std::size_t>(update)] == std::min(update, stages - 1 - stage));
      }
    }
  }
}

TEST_CASE("With vertical sync a micro-batch has the same version on all stages") {
  PipeDreamOptions options = with(9);
  options.vertical_sync = true;
  const auto schedule = piped(test::lanes_problem(3, 64, test::with_skips()), options);

  for (schedule::Place place = 0; place < 3; ++place) {
    CHECK(forward_versions(schedule, place) ==
          std::vector<schedule::Version>{0, 0, 0, 1, 2, 3, 4, 5, 6});
  }
}

TEST_CASE("Backward uses the version that forward used") {
  const auto schedule = piped(test::lanes_problem(4, 64, test::with_skips()), with(11));
  std::map<std::pair<schedule::Place, schedule::MicroBatch>, schedule::Version> used;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::forward) {
      used[{task.place, task.micro_batch}] = task.version;
    } else if (task.kind == TaskKind::backward) {
      CHECK(used.at({task.place, task.micro_batch}) == task.version);
    }
  }
}

TEST_CASE("Every micro-batch has an update, which its loss is averaged for") {
  const auto schedule = piped(test::host_and_device(), with(7));

  CHECK(schedule.updates == schedule.micro_batches);
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::loss) {
      CHECK(task.update == task.micro_batch);
    }
  }
  CHECK(test::count_of(schedule, TaskKind::update, 0) == 7);
}

TEST_CASE("A full PipeDream has no idle time but at its ends") {
  for (std::size_t stages = 2; stages <= 4; ++stages) {
    const auto simulation =
        test::unit_times(piped(test::lanes_problem(stages, 64, test::chain_of(4)), with(16)));

    CHECK(simulation.makespan_s == 3.0 * (16.0 + static_cast<double>(stages) - 1.0));
  }
}

TEST_CASE("Lanes of a stage sum their gradients and share the first one's weights") {
  const auto problem = test::lanes_problem(3, 64, test::chain_of(4));
  const auto schedule = piped(problem, with(8, {2, 1}));
  const std::int64_t cut = 2 * 64 * 40;
  const std::int64_t stage_bytes =
      problem.model.parameters_of(schedule.stages[0]).count() * problem.model.element_bytes;

  CHECK(test::count_of(schedule, TaskKind::update, 0) == 4);
  CHECK(test::count_of(schedule, TaskKind::update, 1) == 0);
  CHECK(test::count_of(schedule, TaskKind::update, 2) == 8);
  CHECK(test::count_of(schedule, TaskKind::reduce, 0) == 4);
  CHECK(schedule.traffic_bytes() == cut + 4 * 2 * stage_bytes);
  CHECK(forward_versions(schedule, 0) == std::vector<schedule::Version>{0, 0, 1, 2});
  CHECK(forward_versions(schedule, 1) == forward_versions(schedule, 0));
}

TEST_CASE("An average takes in the last versions that a stage would stash, and the current") {
  for (const bool vertical_sync : {false, true}) {
    PipeDreamOptions options = with(10);
    options.average_every = 3;
    options.vertical_sync = vertical_sync;
    const auto schedule = piped(test::lanes_problem(3, 64, test::chain_of(3)), options);
    std::vector<std::map<std::int32_t, schedule::Version>> held(3);
    std::size_t averages = 0;
    for (const Task& task : schedule.tasks) {
      auto& versions = held[static_cast<std::size_t>(task.place)];
      if (task.kind == TaskKind::stash) {
        versions[task.slot] = task.version;
      } else if (task.kind == TaskKind::update) {
        versions[0] = task.version;
      } else if (task.kind == TaskKind::average) {
        ++averages;
        CHECK(task.every == 3);
        CHECK(versions.size() == (vertical_sync ? 3 : 3 - static_cast<std::size_t>(task.place)));
        for (const auto& [slot, version] : versions) {
          CHECK(version > 10 - static_cast<schedule::Version>(versions.size()));
        }
      }
    }
    CHECK(averages == (vertical_sync ? 3 : 2));  // the last stage without has one version only
  }
}

TEST_CASE("Lanes of a stage get the mean that the first one makes") {
  PipeDreamOptions options = with(8, {2, 1});
  options.average_every = 2;
  const auto schedule = piped(test::lanes_problem(3, 64, test::chain_of(4)), options);
  std::vector<std::pair<TaskKind, schedule::Place>> last;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::average ||
        (task.kind == TaskKind::receive && task.payload == schedule::Payload::weights)) {
      last.emplace_back(task.kind, task.place);
    }
  }

  REQUIRE(last.size() == 5);
  CHECK(last[3] == std::pair{TaskKind::average, schedule::Place{0}});
  CHECK(last[4] == std::pair{TaskKind::receive, schedule::Place{1}});
}

TEST_CASE("PipeDream refuses what it can't do and says what it can") {
  const auto problem = test::lanes_problem(3, 64, test::chain_of(4));
  plan::Problem strict = problem;
  strict.chunk = 8;
  PipeDreamOptions synced = with(8, {2, 1});
  synced.vertical_sync = true;
  PipeDreamOptions averaged = with(8);
  averaged.average_every = -1;

  CHECK_THROWS_MATCHES(
      piped(problem, with(65)), UsageError,
      MessageMatches(ContainsSubstring("policy 'pipedream'") && ContainsSubstring("1 to 64")));
  CHECK_THROWS_MATCHES(
      piped(problem, with(7, {2, 1})), UsageError,
      MessageMatches(ContainsSubstring("micro_batches is 7") && ContainsSubstring("2 lanes")));
  CHECK_THROWS_MATCHES(piped(problem, with(8, {2, 2})), UsageError,
                       MessageMatches(ContainsSubstring("need 4 lanes")));
  CHECK_THROWS_MATCHES(piped(problem, with(8, {2, 0})), UsageError,
                       MessageMatches(ContainsSubstring("replicas has a 0")));
  CHECK_THROWS_MATCHES(piped(problem, synced), UsageError,
                       MessageMatches(ContainsSubstring("vertical_sync")));
  CHECK_THROWS_MATCHES(piped(strict, with(8)), UsageError,
                       MessageMatches(ContainsSubstring("strict mode")));
  CHECK_THROWS_AS(pipedream(averaged), UsageError);
  CHECK_THROWS_AS(piped(test::lanes_problem(1, 8, test::chain_of(3)), with(2)), UsageError);
}

TEST_CASE("Replicas and cuts must speak of as many stages") {
  PipeDreamOptions options = with(4, {1, 1, 1});
  options.stages.cuts = {"b"};

  CHECK_THROWS_MATCHES(
      piped(test::lanes_problem(3, 64, test::chain_of(4)), options), UsageError,
      MessageMatches(ContainsSubstring("replicas has 3 numbers") && ContainsSubstring("2 stages")));
}

}  // namespace
}  // namespace zygos::policies::test_pipedream
