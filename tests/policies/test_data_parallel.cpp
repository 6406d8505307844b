// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "policies/golden.hpp"
#include "policies/pipeline_checks.hpp"

#include "zygos/core/error.hpp"
#include "zygos/policies/policies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <map>
#include <set>

namespace zygos::policies::test_data_parallel {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using schedule::ElementRange;
using schedule::SampleRange;
using schedule::Task;
using schedule::TaskKind;

DataParallelOptions by(Exchange exchange, std::int64_t bucket_bytes = 25'000'000,
                       std::int64_t micro_batches = 1) {
  return {exchange, {}, bucket_bytes, micro_batches};
}

schedule::Schedule parallel(const plan::Problem& problem,
                            DataParallelOptions options = by(Exchange::ring)) {
  return data_parallel(std::move(options))->schedule(problem, nullptr);
}

std::int64_t gradient_bytes(const plan::Problem& problem) {
  return problem.model.parameters_of(problem.model.all_nodes()).count() *
         problem.model.element_bytes;
}

/// By place and part: whose gradients are in the sum, once per time they were added.
using Sums = std::map<std::pair<schedule::Place, std::int32_t>, std::multiset<schedule::Place>>;

/// What is in every place's gradient when its update begins, or at the end if it has none.
Sums sums_at_update(const schedule::Schedule& schedule) {
  Sums sums;
  for (const Task& task : schedule.tasks) {
    for (const schedule::Buffer& buffer : task.writes) {
      const std::pair key{task.place, buffer.part};
      if (task.kind == TaskKind::backward && buffer.kind == schedule::BufferKind::gradients) {
        sums[key] = {task.place};
      } else if (task.kind == TaskKind::reduce) {
        sums[key].merge(std::multiset(sums.at({task.peer, buffer.part})));
      } else if (task.kind == TaskKind::receive && task.payload == schedule::Payload::gradients) {
        sums[key] = sums.at({task.peer, buffer.part});
      }
    }
  }
  return sums;
}

TEST_CASE("Data parallel over two lanes makes the golden schedule of each exchange") {
  const auto problem = test::host_and_device();

  CHECK(parallel(problem, {}).text() == test::golden("data_parallel_sharded"));

  CHECK(parallel(problem).text() == test::golden("data_parallel_ring"));
  CHECK(parallel(problem, by(Exchange::all_reduce)).text() ==
        test::golden("data_parallel_all_reduce"));
  CHECK(parallel(problem, by(Exchange::central)).text() == test::golden("data_parallel_central"));
}

TEST_CASE("Three workers with a bucket per layer make the golden ring schedule") {
  const auto problem = test::lanes_problem(3, 9, test::chain_of(2));

  CHECK(parallel(problem, by(Exchange::ring, 1)).text() ==
        test::golden("data_parallel_ring_buckets"));
}

TEST_CASE("Every data parallel schedule is valid, trains and evaluates") {
  for (const auto& model : {test::chain_of(5), test::with_skips(), test::with_fixed_head()}) {
    for (std::size_t workers = 2; workers <= 6; ++workers) {
      for (const Exchange exchange :
           {Exchange::ring, Exchange::sharded, Exchange::all_reduce, Exchange::central}) {
        for (const std::int64_t bucket : {1, 300, 1 << 20}) {
          for (const std::int64_t micro_batches : {1, 3}) {
            CAPTURE(model.node_count(), workers, bucket, micro_batches);
            const auto schedule = parallel(test::lanes_problem(workers, 25, model),
                                           by(exchange, bucket, micro_batches));

            CHECK(schedule::validate(schedule).empty());
            CHECK(schedule::validate(schedule.for_evaluation()).empty());
            CHECK(schedule.active_places().size() == workers);
          }
        }
      }
    }
  }
}

TEST_CASE("After the ring every worker holds the gradient of every worker once") {
  for (std::size_t workers = 2; workers <= 7; ++workers) {
    for (const std::int64_t bucket : {1, 300, 1 << 20}) {
      CAPTURE(workers, bucket);
      const auto schedule = parallel(test::lanes_problem(workers, 25, test::with_skips()),
                                     by(Exchange::ring, bucket));
      std::multiset<schedule::Place> all;
      for (const schedule::Place place : schedule.active_places()) {
        all.insert(place);
      }
      const Sums sums = sums_at_update(schedule);

      CHECK(sums.size() == workers * schedule.parts.size());
      for (const auto& [where, whose] : sums) {
        CAPTURE(where.first, where.second);
        CHECK(whose == all);
      }
    }
  }
}

TEST_CASE("Every part is whole on one worker, which alone updates it and hands it to all others") {
  for (std::size_t workers = 2; workers <= 7; ++workers) {
    for (const std::int64_t bucket : {1, 300, 1 << 20}) {
      CAPTURE(workers, bucket);
      const auto schedule = parallel(test::lanes_problem(workers, 25, test::with_skips()),
                                     by(Exchange::sharded, bucket));
      const Sums sums = sums_at_update(schedule);
      std::vector<int> updates(schedule.parts.size());
      std::vector<int> receives(schedule.parts.size());
      for (const Task& task : schedule.tasks) {
        const auto part = std::ranges::find(schedule.parts, task.elements);
        const auto index = static_cast<std::size_t>(part - schedule.parts.begin());
        if (task.kind == TaskKind::update) {
          ++updates.at(index);
          CHECK(task.place == schedule.part_owners.at(index));
          CHECK(sums.at({task.place, static_cast<std::int32_t>(index)}).size() == workers);
        } else if (task.payload == schedule::Payload::weights && task.kind == TaskKind::receive) {
          ++receives.at(index);
          CHECK(task.peer == schedule.part_owners.at(index));
        }
      }

      CHECK(updates == std::vector<int>(schedule.parts.size(), 1));
      CHECK(receives == std::vector<int>(schedule.parts.size(), static_cast<int>(workers) - 1));
    }
  }
}

TEST_CASE("Central reduction puts all gradients together on the first worker, the only to update") {
  const auto schedule =
      parallel(test::lanes_problem(3, 9, test::chain_of(4)), by(Exchange::central, 300));
  const Sums sums = sums_at_update(schedule);

  for (std::int32_t part = 0; part < static_cast<std::int32_t>(schedule.parts.size()); ++part) {
    CHECK(sums.at({0, part}) == std::multiset<schedule::Place>{0, 1, 2});
  }
  CHECK(test::count_of(schedule, TaskKind::update, 0) == 1);
  CHECK(test::count_of(schedule, TaskKind::update, 1) == 0);
  CHECK(test::count_of(schedule, TaskKind::receive, 1) == 1);
}

TEST_CASE("A ring, also of shards, moves 2 (N - 1) S bytes in 2 (N - 1) N messages a bucket") {
  for (std::size_t workers = 2; workers <= 8; ++workers) {
    const auto problem = test::lanes_problem(workers, 25, test::chain_of(16));
    const auto others = static_cast<std::int64_t>(workers) - 1;
    const auto ring = parallel(problem);
    // A layer has 32 elements, so a bucket of up to 1024 bytes has eight.
    const auto in_buckets = parallel(problem, by(Exchange::ring, 1024));
    const auto sharded = parallel(problem, by(Exchange::sharded));
    CAPTURE(workers);

    CHECK(sharded.traffic_bytes() == ring.traffic_bytes());
    CHECK(sharded.traffic_messages() == ring.traffic_messages());

    CHECK(ring.traffic_bytes() == 2 * others * gradient_bytes(problem));
    CHECK(ring.traffic_messages() == 2 * others * (others + 1));
    CHECK(in_buckets.traffic_bytes() == ring.traffic_bytes());
    CHECK(in_buckets.traffic_messages() == 2 * ring.traffic_messages());
  }
}

TEST_CASE("All-reduce moves N (N - 1) S bytes, central reduction 2 (N - 1) S") {
  for (std::int64_t workers = 2; workers <= 6; ++workers) {
    const auto problem =
        test::lanes_problem(static_cast<std::size_t>(workers), 25, test::chain_of(4));
    const auto all = parallel(problem, by(Exchange::all_reduce));
    const auto central = parallel(problem, by(Exchange::central, 1));

    CHECK(all.traffic_bytes() == workers * (workers - 1) * gradient_bytes(problem));
    CHECK(all.traffic_messages() == workers * (workers - 1));
    CHECK(central.traffic_bytes() == 2 * (workers - 1) * gradient_bytes(problem));
    CHECK(central.traffic_messages() == (workers - 1) * (4 + 1));
  }
}

TEST_CASE("Parts cover the parameters once and end at multiples of 16 elements") {
  for (std::size_t workers = 2; workers <= 7; ++workers) {
    const auto problem = test::lanes_problem(workers, 25, test::with_skips());
    const auto schedule = parallel(problem, by(Exchange::ring, 300));
    auto parts = schedule.parts;
    std::ranges::sort(parts, {}, &ElementRange::begin);
    std::int64_t next = 0;
    for (const ElementRange& part : parts) {
      CHECK(part.begin == next);
      CHECK(part.count() > 0);
      CHECK(part.begin % 16 == 0);
      next = part.end;
    }
    CHECK(next == problem.model.parameters_of(problem.model.all_nodes()).end);
  }
}

TEST_CASE("Buckets are filled from the last layer on and none is larger than told") {
  const auto problem = test::lanes_problem(2, 25, test::chain_of(5));
  const auto schedule = parallel(problem, by(Exchange::ring, 300));  // two layers of 128 bytes
  std::vector<schedule::NodeRange> backward;
  for (const Task& task : schedule.tasks) {
    if (task.kind == TaskKind::backward && task.place == 0) {
      backward.push_back(task.nodes);
    }
  }

  CHECK(backward == std::vector<schedule::NodeRange>{{3, 5}, {1, 3}, {0, 1}});
}

TEST_CASE("The last bucket, which nothing hides, is cut down to 4 MiB or one layer") {
  auto model = test::chain_of(5);
  const auto backward_with = [&](std::vector<std::int64_t> mebibytes) {
    std::int64_t begin = 0;
    for (std::size_t node = 0; node < model.nodes.size(); ++node) {
      const std::int64_t end = begin + (mebibytes[node] << 20) / model.element_bytes;
      model.nodes[node].parameters = {begin, end};
      begin = end;
    }
    std::vector<schedule::NodeRange> backward;
    for (const Task& task : parallel(test::lanes_problem(2, 24, model)).tasks) {
      if (task.kind == TaskKind::backward && task.place == 0) {
        backward.push_back(task.nodes);
      }
    }
    return backward;
  };
  using Ranges = std::vector<schedule::NodeRange>;

  CHECK(backward_with({2, 2, 2, 2, 2}) == Ranges{{2, 5}, {0, 2}});
  CHECK(backward_with({8, 2, 2, 2, 2}) == Ranges{{1, 5}, {0, 1}});
  CHECK(backward_with({0, 0, 8, 2, 2}) == Ranges{{3, 5}, {0, 3}});
  CHECK(backward_with({0, 0, 0, 0, 20}) == Ranges{{0, 5}});
  CHECK(backward_with({1, 1, 1, 1, 0}) == Ranges{{0, 5}});
}

TEST_CASE("Buckets cross the ring while backward is at work on the layers before") {
  const auto problem = test::lanes_problem(2, 24, test::chain_of(4));
  // Backward takes 1 a layer, and so does moving half of the gradient of all four.
  const auto seconds = [](const Task& task) {
    return task.payload == schedule::Payload::gradients
               ? static_cast<double>(task.elements.count()) / 64.0
               : (task.kind == TaskKind::backward ? task.nodes.count() : 0.0);
  };

  // One bucket: its send and receive, twice, after all of backward.
  CHECK(plan::simulate(parallel(problem), seconds).makespan_s == 4.0 + 4.0);
  // A bucket per layer: only the first layer's is still to go then.
  CHECK(plan::simulate(parallel(problem, by(Exchange::ring, 128)), seconds).makespan_s ==
        4.0 + 1.0);
}

TEST_CASE("Shares are weighed exactly: samples in proportion, gradients plainly added") {
  const auto problem = test::lanes_problem(3, 100, test::chain_of(3));

  const auto schedule = parallel(problem, {Exchange::ring, {1.0, 3.0, 6.0}, 1 << 20, 2});

  CHECK(schedule.samples_of(0) == SampleRange{0, 10});
  CHECK(schedule.samples_of(1) == SampleRange{10, 40});
  CHECK(schedule.samples_of(2) == SampleRange{40, 100});
  CHECK(schedule.micro_batches.size() == 6);
  CHECK(schedule.updates == std::vector<SampleRange>{{0, 100}});
}

TEST_CASE("Equal shares differ by at most one sample") {
  const auto schedule = parallel(test::lanes_problem(3, 100, test::chain_of(3)));

  for (const schedule::Place place : {0, 1, 2}) {
    CHECK((schedule.samples_of(place).count() == 33 || schedule.samples_of(place).count() == 34));
  }
}

TEST_CASE(
    "In strict mode a ring, also of shards, becomes an all-reduce and shares end with a chunk") {
  plan::Problem problem = test::lanes_problem(2, 100, test::chain_of(3));
  problem.chunk = 8;

  const auto schedule = parallel(problem);
  CHECK(parallel(problem, by(Exchange::sharded)).text() == schedule.text());
  const auto unequal = parallel(problem, {Exchange::ring, {1.0, 2.0}, 1, 2});

  CHECK(test::count_of(schedule, TaskKind::all_reduce, 0) == 1);
  CHECK(test::count_of(schedule, TaskKind::reduce, 0) == 0);
  CHECK(schedule.samples_of(0) == SampleRange{0, 48});
  CHECK(unequal.samples_of(0) == SampleRange{0, 32});
  CHECK(unequal.micro_batches[1] == SampleRange{16, 32});
}

TEST_CASE("In strict mode the first worker alone sums the trees of all and hands out its weights") {
  plan::Problem problem = test::lanes_problem(3, 24, test::chain_of(3));
  problem.chunk = 8;

  const auto schedule = parallel(problem, by(Exchange::central, 1));

  CHECK(test::count_of(schedule, TaskKind::all_reduce, 0) == 1);
  for (const schedule::Place place : {1, 2}) {
    CHECK(test::count_of(schedule, TaskKind::all_reduce, place) == 0);
    CHECK(test::count_of(schedule, TaskKind::update, place) == 0);
  }
  CHECK(schedule.traffic_bytes() == 2 * 2 * gradient_bytes(problem));
}

TEST_CASE("Shares that don't fit lanes and batch are refused") {
  const auto problem = test::host_and_device();
  const auto with = [](std::vector<double> shares) {
    return DataParallelOptions{Exchange::ring, std::move(shares), 1, 1};
  };

  CHECK_THROWS_MATCHES(
      parallel(problem, with({1.0, 1.0, 1.0})), UsageError,
      MessageMatches(ContainsSubstring("3 numbers") && ContainsSubstring("2 (host, device)")));
  CHECK_THROWS_MATCHES(parallel(problem, with({1.0, 0.0})), UsageError,
                       MessageMatches(ContainsSubstring("'device' without samples")));
  CHECK_THROWS_MATCHES(parallel(problem, with({0.001, 1.0})), UsageError,
                       MessageMatches(ContainsSubstring("'host' without samples")));
  CHECK_THROWS_AS(parallel(problem, with({1.0, -1.0})), UsageError);
  CHECK_THROWS_AS(parallel(problem, with({-1.0, 3.0})), UsageError);
  CHECK_THROWS_AS(parallel(problem, with({1.0, std::numeric_limits<double>::quiet_NaN()})),
                  UsageError);
  CHECK_THROWS_AS(parallel(problem, with({1.0, std::numeric_limits<double>::infinity()})),
                  UsageError);
}

TEST_CASE("One lane, more lanes than samples and too many micro-batches are refused") {
  CHECK_THROWS_MATCHES(
      parallel(test::lanes_problem(1, 8, test::chain_of(3))), UsageError,
      MessageMatches(ContainsSubstring("policy 'data_parallel'") && ContainsSubstring("'single'")));
  CHECK_THROWS_MATCHES(parallel(test::lanes_problem(3, 2, test::chain_of(3))), UsageError,
                       MessageMatches(ContainsSubstring("the number of lanes is 3")));
  CHECK_THROWS_MATCHES(
      parallel(test::lanes_problem(2, 8, test::chain_of(3)), by(Exchange::ring, 1, 5)), UsageError,
      MessageMatches(ContainsSubstring("micro_batches is 5") && ContainsSubstring("1 to 4")));
  CHECK_THROWS_AS(parallel(test::host_and_device(), by(Exchange::ring, 1, 0)), UsageError);
  CHECK_THROWS_AS(data_parallel(by(Exchange::ring, 0)), UsageError);
}

}  // namespace
}  // namespace zygos::policies::test_data_parallel
