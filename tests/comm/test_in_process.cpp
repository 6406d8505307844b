// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"

#include "zygos/comm/in_process.hpp"

#include <catch2/catch_test_macros.hpp>

#include <thread>

namespace zygos::test_in_process {
using namespace zygos::testing;

namespace {

/// Runs `first` and `second` on the ranks of a group of two, at the same time.
void on_two_ranks(const OnRank& first, const OnRank& second) {
  auto group = comm::in_process_group(2, {.time_limit_s = 60.0});
  std::string text;
  std::thread other([&] {
    const auto communicator = std::move(group[1]);
    try {
      second(*communicator);
    } catch (const std::exception& error) {
      text = error.what();
    }
  });
  {
    const auto communicator = std::move(group[0]);
    try {
      first(*communicator);
    } catch (const std::exception& error) {
      text = error.what();
    }
  }
  other.join();
  CHECK(text == "");
}

void nothing(comm::Communicator&) {}

}  // namespace

TEST_CASE("a group has at least one rank", "[comm]") {
  CHECK_THROWS_AS(comm::in_process_group(0), UsageError);
  CHECK_THROWS_AS(comm::in_process_group(2, {.time_limit_s = 0.0}), UsageError);
  CHECK_THROWS_AS(comm::in_process_group(2, {.part_bytes = 0}), UsageError);
}

TEST_CASE("a rank that is gone is noticed at once, without a time limit", "[comm]") {
  on_two_ranks([](comm::Communicator& c) { peer_error([&] { c.barrier(); }); }, nothing);
  on_two_ranks(
      [](comm::Communicator& c) {
        std::vector<std::byte> buffer(3);
        expect_contains(peer_error([&] { comm::receive(c, buffer, 1, 0); }), "rank 1 is gone");
      },
      nothing);
  on_two_ranks(
      [](comm::Communicator& c) {
        std::vector<std::byte> buffer(3);
        expect_contains(peer_error([&] { comm::send(c, buffer, 1, 0); }), "rank 1 is gone");
      },
      nothing);
}

TEST_CASE("a sender learns of the size that its receiver expects", "[comm]") {
  on_two_ranks(
      [](comm::Communicator& c) {
        std::vector<std::byte> buffer(3);
        expect_contains(peer_error([&] { comm::send(c, buffer, 1, 0); }),
                        "the receiver expects 4 bytes");
      },
      [](comm::Communicator& c) {
        std::vector<std::byte> buffer(4);
        const auto channel = c.open_receive(buffer, 0, 0);
        channel->start();
        expect_contains(peer_error([&] { c.wait(*channel); }), "the sender has 3 bytes");
        // Stays until the sender has noticed.
        peer_error([&] { c.barrier(); });
      });
}

TEST_CASE("ranks that make different collective calls are both told", "[comm]") {
  on_two_ranks(
      [](comm::Communicator& c) {
        expect_contains(peer_error([&] { c.barrier(); }), "rank 1 calls broadcast of 2 bytes");
      },
      [](comm::Communicator& c) {
        std::vector<std::byte> buffer(2);
        expect_contains(peer_error([&] { c.broadcast(buffer, 0); }), "rank 0 calls barrier");
      });
  on_two_ranks(
      [](comm::Communicator& c) {
        std::vector<double> values(2);
        expect_contains(peer_error([&] { c.sum(values); }), "all_gather of 24 bytes");
      },
      [](comm::Communicator& c) {
        std::vector<double> values(3);
        expect_contains(peer_error([&] { c.sum(values); }), "all_gather of 16 bytes");
      });
}

TEST_CASE("a message that was withdrawn with its channel is not received", "[comm]") {
  auto group = comm::in_process_group(2);
  std::vector<std::byte> in(1);
  const auto receiver = group[1]->open_receive(in, 0, 0);
  receiver->start();
  {
    const std::vector<std::byte> old(1, std::byte{1});
    group[0]->open_send(old, 1, 0)->start();
  }
  CHECK_FALSE(receiver->done());
  const std::vector<std::byte> now(1, std::byte{2});
  const auto sender = group[0]->open_send(now, 1, 0);
  sender->start();
  CHECK(receiver->done());
  CHECK(sender->done());
  CHECK(in[0] == std::byte{2});
}

}  // namespace zygos::test_in_process
