// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <bit>
#include <chrono>
#include <thread>

namespace zygos::test_collectives {
using namespace zygos::testing;

namespace {

/// Byte `i` of what rank `rank` has to say.
std::byte byte_of(int rank, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 131 + i * 7 + i / 251) & 0xff);
}

std::vector<std::byte> bytes_of(int rank, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = byte_of(rank, i);
  }
  return bytes;
}

/// Numbers whose sum depends on the order in which they are added.
double value_of(int rank, std::size_t i) {
  const double sign = rank % 2 == 0 ? 1.0 : -1.0;
  return sign * 1e16 / (1.0 + static_cast<double>(i)) + 0.1 * (rank + 1);
}

void dawdle(int rank, int round) {
  std::this_thread::sleep_for(std::chrono::microseconds((rank * 7 + round * 3) % 5 * 100));
}

}  // namespace

TEST_CASE("every rank knows its number, the size of the group and its kind", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    expect(c.rank() >= 0 && c.rank() < c.size(), "a rank is below the size");
    expect(c.kind() == "in-process" || c.kind() == "mpi", "the kind has a name");
    expect(!c.device_channels(), "buffers are host memory");
  });
}

TEST_CASE("a broadcast gives every rank the root's bytes, whoever is the root", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 1000U, 300001U}) {
          for (int root = 0; root < c.size(); ++root) {
            auto buffer = bytes_of(c.rank(), count);
            c.broadcast(buffer, root);
            expect(buffer == bytes_of(root, count),
                   std::to_string(count) + " bytes are the root's");
          }
        }
      },
      {.time_limit_s = 60.0, .part_bytes = 64});
}

TEST_CASE("an all-gather gives every rank the blocks of all in rank order", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 5000U}) {
          std::vector<std::byte> expected;
          for (int r = 0; r < c.size(); ++r) {
            const auto block = bytes_of(r, count);
            expected.insert(expected.end(), block.begin(), block.end());
          }
          std::vector<std::byte> all(expected.size());
          c.all_gather(bytes_of(c.rank(), count), all);
          expect(all == expected, std::to_string(count) + " bytes of each rank");
        }
      },
      {.time_limit_s = 60.0, .part_bytes = 64});
}

TEST_CASE("a sum is added in rank order, to the same bits on every rank at any timing", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    for (int round = 0; round < 20; ++round) {
      for (const std::size_t count : {1U, 3U, 64U, 200U}) {
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i) {
          values[i] = value_of(c.rank(), i);
        }
        dawdle(c.rank(), round);
        c.sum(values);
        for (std::size_t i = 0; i < count; ++i) {
          double expected = value_of(0, i);
          for (int r = 1; r < c.size(); ++r) {
            expected += value_of(r, i);
          }
          expect(std::bit_cast<std::uint64_t>(values[i]) == std::bit_cast<std::uint64_t>(expected),
                 "the sum has the bits of the sum in rank order");
        }
      }
    }
  });
}

TEST_CASE("a maximum is that of all ranks, negative numbers included", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    std::vector<std::int64_t> values{-5 - c.rank(), c.rank(), INT64_MIN, c.rank() == 0 ? 1 : 0};
    c.max(values);
    expect(values == std::vector<std::int64_t>{-5, c.size() - 1, INT64_MIN, 1}, "the maxima");
  });
}

TEST_CASE("no rank leaves a barrier before the last one has come", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    using Clock = std::chrono::steady_clock;
    // Processes of one machine share the clock, too.
    for (int late = 0; late < c.size(); ++late) {
      c.barrier();
      std::int64_t come = 0;
      if (c.rank() == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        come = Clock::now().time_since_epoch().count();
      }
      c.barrier();
      const std::int64_t left = Clock::now().time_since_epoch().count();
      c.max(std::span(&come, 1));
      expect(left >= come, "this rank left after the last one came");
    }
  });
}

TEST_CASE("a gather gives the root blocks of any size and the others nothing", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    const auto count = [](int rank) { return static_cast<std::size_t>(rank) * 70001U; };
    for (int root = 0; root < c.size(); ++root) {
      const auto blocks = comm::gather(c, bytes_of(c.rank(), count(c.rank())), root, 9);
      if (c.rank() != root) {
        expect(blocks.empty(), "only the root has them");
        continue;
      }
      expect(blocks.size() == static_cast<std::size_t>(c.size()), "a block of each rank");
      for (int r = 0; r < c.size(); ++r) {
        expect(blocks[static_cast<std::size_t>(r)] == bytes_of(r, count(r)), "rank r's block");
      }
    }
  });
}

TEST_CASE("calls that make no sense are refused with what would", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    std::vector<std::byte> buffer(8);
    const auto refusal = [](auto call) -> std::string {
      try {
        call();
      } catch (const UsageError& error) {
        return error.what();
      }
      return "nothing was refused";
    };
    const std::string ranks = "ranks 0 to " + std::to_string(c.size() - 1);
    expect_contains(refusal([&] { c.broadcast(buffer, c.size()); }), ranks);
    expect_contains(refusal([&] { c.open_send(buffer, c.size(), 0); }), ranks);
    expect_contains(refusal([&] { c.open_receive(buffer, -1, 0); }), ranks);
    expect_contains(refusal([&] { c.open_receive(buffer, 0, -1); }), "tags are 0 or more");
    expect_contains(refusal([&] { comm::gather(c, buffer, -1, 0); }), ranks);
    std::vector<std::byte> all(8 * static_cast<std::size_t>(c.size()) + 1);
    expect_contains(refusal([&] { c.all_gather(buffer, all); }), "do not fill");
    const auto channel = c.open_send(buffer, 0, 5);
    expect_contains(refusal([&] { c.open_send(buffer, 0, 5); }), "give each its own tag");
  });
}

}  // namespace zygos::test_collectives
