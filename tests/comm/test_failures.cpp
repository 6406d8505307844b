// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a rank is told when another one fails: always an error, never a wait without end or wrong
// bytes.
#include "comm/ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <thread>

namespace zygos::test_failures {
using namespace zygos::testing;

namespace {

using Bytes = std::vector<std::byte>;

/// Waits for another rank's abort().
std::string news_of_failure(comm::Communicator& c) {
  return peer_error([&] {
    for (;;) {
      c.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

}  // namespace

TEST_CASE("a receiver with another size than the sender says so, however the message is cut",
          "[comm]") {
  for (const std::size_t part : {std::size_t{1} << 20, std::size_t{64}}) {
    for (const auto& [sent, expected] : std::vector<std::pair<std::size_t, std::size_t>>{
             {100, 101}, {101, 100}, {0, 1}, {1, 0}, {64, 128}, {128, 64}, {65, 64}, {1000, 7}}) {
      on_every_rank(
          [&, sent = sent, expected = expected](comm::Communicator& c) {
            if (c.rank() == 0 && c.size() > 1) {
              Bytes buffer(sent);
              const auto channel = c.open_send(buffer, 1, 3);
              channel->start();
              news_of_failure(c);
            } else if (c.rank() == 1) {
              Bytes buffer(expected);
              const auto channel = c.open_receive(buffer, 0, 3);
              channel->start();
              const auto text = peer_error([&] { c.wait(*channel); });
              expect_contains(text, "rank 1: receive of " + std::to_string(expected) + " byte");
              expect_contains(text, "from rank 0 with tag 3: the sender has");
              c.abort(text);
            }
          },
          {.time_limit_s = 60.0, .part_bytes = part});
    }
  }
}

TEST_CASE("a message that nobody sends is given up with rank, peer and tag named", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        Bytes buffer(40);
        const int peer = (c.rank() + 1) % c.size();
        const auto channel = c.open_receive(buffer, peer, 17);
        channel->start();
        const auto begun = std::chrono::steady_clock::now();
        const auto text = peer_error([&] { c.wait(*channel); });
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begun;
        expect_contains(text, "rank " + std::to_string(c.rank()) +
                                  ": receive of 40 bytes from rank " + std::to_string(peer) +
                                  " with tag 17: ");
        expect_contains(text, "no progress for 0.15 s");
        expect(waited.count() >= 0.15 && waited.count() < 10.0, "after the time limit, not later");
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the others', too
      },
      {.time_limit_s = 0.15});
}

TEST_CASE("as long as other messages come, a wait goes on beyond the time limit", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        Bytes slow(1);
        Bytes quick(1);
        Bytes sent(1);
        const auto first = c.open_receive(slow, c.rank(), 0);
        const auto second = c.open_receive(quick, c.rank(), 1);
        const auto sender = c.open_send(sent, c.rank(), 1);
        first->start();
        for (int i = 0; i < 10; ++i) {
          second->start();
          sender->start();
          c.wait(*second);
          c.wait(*sender);
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          expect(!first->done(), "it has not come, but there is progress");
        }
        const auto last = c.open_send(sent, c.rank(), 0);
        last->start();
        c.wait(*first);
        c.wait(*last);
      },
      {.time_limit_s = 0.8});
}

TEST_CASE("waiting at a barrier for a rank that never enters it ends at the time limit", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        if (c.size() == 1) {
          return;
        }
        if (c.rank() == 0) {
          const auto text = peer_error([&] { c.barrier(); });
          expect_contains(text, "rank 0: barrier");
          expect_contains(text, "no progress for 0.15 s");
          c.abort(text);
        } else {
          expect_contains(news_of_failure(c), "rank 0 has failed: rank 0: barrier");
        }
      },
      {.time_limit_s = 0.15});
}

TEST_CASE("a rank that aborts wakes those that wait for it, with its reason", "[comm]") {
  const std::vector<std::function<void(comm::Communicator&)>> waits{
      [](comm::Communicator& c) { c.barrier(); },
      [](comm::Communicator& c) {
        std::vector<double> value{1.0};
        c.sum(value);
      },
      [](comm::Communicator& c) {
        Bytes buffer(1000);
        comm::receive(c, buffer, 0, 2);
      },
      [](comm::Communicator& c) {
        Bytes buffer(std::size_t{8} << 20);  // too large to be sent without a receiver
        const auto channel = c.open_send(buffer, 0, 2);
        channel->start();
        c.wait(*channel);
      },
      [](comm::Communicator& c) { news_of_failure(c), c.barrier(); }};
  for (const auto& wait : waits) {
    on_every_rank([&](comm::Communicator& c) {
      if (c.rank() == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        c.abort("loss is NaN");
        expect_contains(peer_error([&] { c.check(); }),
                        "rank 0: this rank has failed: loss is NaN");
        expect_contains(peer_error([&] { c.barrier(); }), "loss is NaN");
      } else {
        const auto text = peer_error([&] { wait(c); });
        expect_contains(text, "rank " + std::to_string(c.rank()) + ": rank 0 has failed");
        expect_contains(text, "loss is NaN");
      }
    });
  }
}

TEST_CASE("a group in which nobody fails reports nothing", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    for (int i = 0; i < 100; ++i) {
      c.check();
    }
    c.barrier();
  });
}

}  // namespace zygos::test_failures
