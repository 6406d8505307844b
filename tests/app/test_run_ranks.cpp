// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/rank_lanes.hpp"
#include "app/run/ranks.hpp"
#include "app/run/share_checkpoint.hpp"

#include "zygos/comm/in_process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <functional>
#include <thread>

namespace zygos::app::test_run_ranks {

namespace {

using Catch::Matchers::ContainsSubstring;

/// Runs `body` as two ranks, on the hosts "north" and "south", and returns what each failed with.
std::vector<std::optional<Failure>> on_two(const std::function<void(const Ranks&)>& body) {
  auto group = comm::in_process_group(2, {.time_limit_s = 30.0});
  std::vector<std::optional<Failure>> failures(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank, communicator = std::move(group[rank])]() mutable {
      const Ranks ranks(std::move(communicator), rank == 0 ? "north" : "south", {0, 1});
      try {
        body(ranks);
      } catch (...) {
        failures[rank] = current_failure();
      }
    });
  }
  std::ranges::for_each(threads, &std::thread::join);
  return failures;
}

}  // namespace

TEST_CASE("neighbouring lanes are dealt out to one rank, as even as can be") {
  CHECK(deal_out(4, 1) == std::vector<int>{0, 0, 0, 0});
  CHECK(deal_out(4, 2) == std::vector<int>{0, 0, 1, 1});
  CHECK(deal_out(5, 2) == std::vector<int>{0, 0, 0, 1, 1});
  CHECK(deal_out(5, 4) == std::vector<int>{0, 0, 1, 2, 3});
  CHECK(deal_out(3, 3) == std::vector<int>{0, 1, 2});
}

TEST_CASE("more ranks than lanes are told both numbers and what to do") {
  CHECK_THROWS_WITH(deal_out(2, 3), ContainsSubstring("3 ranks and 2 lanes") &&
                                        ContainsSubstring("count") &&
                                        ContainsSubstring("at most 2 processes"));
  CHECK_THROWS_WITH(deal_out(1, 2),
                    ContainsSubstring("1 lane:") && ContainsSubstring("one process"));
}

TEST_CASE("cores are shared by the ranks of a host that may use them, and by nobody else") {
  const std::vector<int> all{0, 1, 2, 3};
  CHECK(fair_cores({"n", "n"}, {all, all}, 0) == 2);
  CHECK(fair_cores({"n", "m"}, {all, all}, 0) == 4);
  CHECK(fair_cores({"n", "n"}, {{0, 1}, {2, 3}}, 1) == 2);  // bound by the launcher
  CHECK(fair_cores({"n", "n", "n"}, {all, all, all}, 2) == 1);
  CHECK(fair_cores({"n", "n", "n"}, {all, {0}, {0}}, 0) == 3);
  CHECK(fair_cores({"n", "n"}, {{5}, {5}}, 1) == 1);
}

TEST_CASE("a rank knows which others are on its host") {
  const std::vector<std::string> hosts{"north", "south", "north"};
  auto group = comm::in_process_group(3, {.time_limit_s = 30.0});
  std::vector<std::vector<int>> found(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank, communicator = std::move(group[rank])]() mutable {
      found[rank] = Ranks(std::move(communicator), hosts[rank], {0}).on_this_host();
    });
  }
  std::ranges::for_each(threads, &std::thread::join);

  CHECK(found == std::vector<std::vector<int>>{{0, 2}, {1}, {0, 2}});
  CHECK(Ranks().on_this_host() == std::vector<int>{0});
}

TEST_CASE("a failure of one rank becomes that of all, with the rank's name and its exit code") {
  const auto failures = on_two([](const Ranks& ranks) {
    ranks.together([&] {
      if (ranks.rank() == 1) {
        throw DataError("labels are short of 4 bytes");
      }
    });
  });
  for (const auto& failure : failures) {
    REQUIRE(failure);
    CHECK(failure->code == ExitCode::data);
    CHECK(failure->message == "rank 1 on south: labels are short of 4 bytes");
    CHECK(failure->shared);
  }
}

TEST_CASE("a failure that is the same on all ranks is said once, without names") {
  const auto failures =
      on_two([](const Ranks& ranks) { ranks.together([] { throw UsageError("no such file"); }); });
  REQUIRE(failures[0]);
  REQUIRE(failures[1]);
  CHECK(failures[0]->message == "no such file");
  CHECK(failures[1]->message == "no such file");
}

TEST_CASE("different failures are told one by one, the first rank's code counts") {
  const auto failures = on_two([](const Ranks& ranks) {
    ranks.together([&] {
      if (ranks.first()) {
        throw IoError("disk full");
      }
      throw MemoryError("too large");
    });
  });
  REQUIRE(failures[1]);
  CHECK(failures[1]->code == ExitCode::io);
  CHECK(failures[1]->message == "disk full\nrank 1 on south: too large");
}

TEST_CASE("without a failure work done together returns what it made") {
  const auto failures = on_two([](const Ranks& ranks) {
    if (ranks.together([&] { return ranks.rank() + 7; }) != ranks.rank() + 7) {
      throw InternalError("another rank's result");
    }
    ranks.require_same("the deck", "equal");
    ranks.wait_for_all();
  });
  CHECK_FALSE(failures[0]);
  CHECK_FALSE(failures[1]);
}

TEST_CASE("alone a failure keeps its type") {
  const Ranks alone;
  CHECK_THROWS_AS(alone.together([] { throw DataError("x"); }), DataError);
  CHECK(alone.exchange("me") == std::vector<std::string>{"me"});
}

TEST_CASE("what must be the same everywhere is refused where it is not") {
  const auto failures = on_two([](const Ranks& ranks) {
    ranks.require_same("the deck", ranks.first() ? "epochs: 1" : "epochs: 2");
  });
  REQUIRE(failures[0]);
  CHECK(failures[0]->code == ExitCode::usage);
  CHECK_THAT(failures[0]->message, ContainsSubstring("rank 1 on south: the deck is not the same"));
}

TEST_CASE("lanes are on all ranks what their owners made of them") {
  const std::vector<int> owners{0, 0, 1};
  std::vector<std::vector<lane::LaneSpec>> seen(2);
  const auto failures = on_two([&](const Ranks& ranks) {
    std::vector<lane::LaneSpec> mine;
    if (ranks.first()) {
      mine = {{.name = "a", .threads = 3},
              {.name = "b", .kind = lane::Kind::emulated, .link = {2e9, 1e-6}, .slowdown = 2.0}};
    } else {
      mine = {{.name = "c",
               .kind = lane::Kind::device,
               .space = lane::HostSpace::serial,
               .budget_bytes = std::size_t{1} << 40,
               .device_id = 3}};
    }
    seen[static_cast<std::size_t>(ranks.rank())] = agree_on_lanes(mine, owners, ranks);
  });
  REQUIRE_FALSE(failures[0]);
  for (const auto& lanes : seen) {
    REQUIRE(lanes.size() == 3);
    CHECK(lanes[0].name == "a");
    CHECK(lanes[0].threads == 3);
    CHECK(lanes[1].kind == lane::Kind::emulated);
    CHECK(lanes[1].link.bytes_per_second == 2e9);
    CHECK(lanes[1].link.latency_s == 1e-6);
    CHECK(lanes[1].slowdown == 2.0);
    CHECK(lanes[2].kind == lane::Kind::device);
    CHECK(lanes[2].space == lane::HostSpace::serial);
    CHECK(lanes[2].budget_bytes == std::size_t{1} << 40);
    CHECK(lanes[2].device_id == 3);
  }
}

TEST_CASE("a checkpoint of rank 0 becomes that of all, to the last byte") {
  io::Checkpoint made;
  made.path = "runs/x/checkpoints/step-000012";
  made.step = 12;
  made.facts = {{"deck", "seed: 1\n"}, {"epoch", "3"}};
  made.tensors.push_back({"weights/fc1/kernel", DType::f32, Shape{2, 1}, {}});
  for (int i = 0; i < 8; ++i) {
    made.tensors.back().bytes.push_back(static_cast<std::byte>(i * 31));
  }
  made.tensors.push_back({"weights/empty", DType::f64, Shape{0}, {}});
  std::vector<std::optional<io::Checkpoint>> seen(2);
  const auto failures = on_two([&](const Ranks& ranks) {
    auto& mine = seen[static_cast<std::size_t>(ranks.rank())];
    if (ranks.first()) {
      mine = made;
    }
    share_checkpoint(mine, ranks);
    std::optional<io::Checkpoint> none;
    share_checkpoint(none, ranks);
    if (none) {
      throw InternalError("a checkpoint out of nothing");
    }
  });
  REQUIRE_FALSE(failures[0]);
  REQUIRE_FALSE(failures[1]);
  REQUIRE(seen[1]);
  CHECK(seen[1]->path == made.path);
  CHECK(seen[1]->step == 12);
  CHECK(seen[1]->facts == made.facts);
  CHECK(seen[1]->tensor("weights/fc1/kernel").shape == Shape{2, 1});
  CHECK(seen[1]->tensor("weights/fc1/kernel").bytes == made.tensors[0].bytes);
  CHECK(seen[1]->tensor("weights/empty").bytes.empty());
}

}  // namespace zygos::app::test_run_ranks
