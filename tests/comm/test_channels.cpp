// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"
#include "support/allocation_counter.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

namespace zygos::test_channels {
using namespace zygos::testing;

namespace {

constexpr std::size_t part = 64;
constexpr comm::Options small_parts{.time_limit_s = 60.0, .part_bytes = part};

/// Byte `i` of the message with `tag` from `from` to `to` in round `round`.
std::byte byte_of(int from, int to, int tag, int round, std::size_t i) {
  const auto key = static_cast<std::size_t>(from * 64 + to * 16 + tag * 3 + round * 5);
  return static_cast<std::byte>((key + i * 7 + i / 251) & 0xff);
}

struct End {
  std::vector<std::byte> buffer;
  std::unique_ptr<comm::Channel> channel;

  void fill(int from, int to, int round) {
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      buffer[i] = byte_of(from, to, channel->message().tag, round, i);
    }
  }
  bool holds(int from, int to, int round) const {
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      if (buffer[i] != byte_of(from, to, channel->message().tag, round, i)) {
        return false;
      }
    }
    return true;
  }
};

End sender(comm::Communicator& c, std::size_t bytes, int to, int tag) {
  End end{std::vector<std::byte>(bytes), nullptr};
  end.channel = c.open_send(end.buffer, to, tag);
  return end;
}

End receiver(comm::Communicator& c, std::size_t bytes, int from, int tag) {
  End end{std::vector<std::byte>(bytes), nullptr};
  end.channel = c.open_receive(end.buffer, from, tag);
  return end;
}

/// Polls all until none has anything under way, as an engine does.
void finish(std::vector<End>& ends) {
  bool all = false;
  while (!all) {
    all = true;
    for (End& end : ends) {
      all = end.channel->done() && all;
    }
  }
}

}  // namespace

TEST_CASE("messages of every size arrive, and again in every round", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        const int next = (c.rank() + 1) % c.size();
        const int last = (c.rank() + c.size() - 1) % c.size();
        int tag = 0;
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, part - 1, part, part + 1,
                                        3 * part, 3 * part + 7, std::size_t{100003}}) {
          auto out = sender(c, bytes, next, ++tag);
          auto in = receiver(c, bytes, last, tag);
          for (int round = 0; round < 3; ++round) {
            out.fill(c.rank(), next, round);
            in.channel->start();
            out.channel->start();
            c.wait(*in.channel);
            c.wait(*out.channel);
            expect(in.holds(last, c.rank(), round), std::to_string(bytes) + " bytes arrived");
          }
        }
      },
      small_parts);
}

TEST_CASE("messages beyond what libraries send at once arrive whole", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    const std::size_t bytes = (std::size_t{8} << 20) + 3;
    std::vector<End> ends;
    ends.push_back(receiver(c, bytes, (c.rank() + c.size() - 1) % c.size(), 0));
    ends.push_back(sender(c, bytes, (c.rank() + 1) % c.size(), 0));
    ends[1].fill(c.rank(), ends[1].channel->message().peer, 0);
    std::vector<comm::Channel*> both{ends[0].channel.get(), ends[1].channel.get()};
    c.start(both);
    finish(ends);
    expect(ends[0].holds(ends[0].channel->message().peer, c.rank(), 0), "all bytes arrived");
  });
}

TEST_CASE("many channels started in different orders on the two sides do not mix", "[comm]") {
  on_every_rank(
      [](comm::Communicator& c) {
        std::vector<End> ends;
        for (int peer = 0; peer < c.size(); ++peer) {
          for (int tag = 0; tag < 24; ++tag) {
            const auto bytes = static_cast<std::size_t>(tag * 17);
            ends.push_back(sender(c, bytes, peer, tag));
            ends.push_back(receiver(c, bytes, peer, tag));
          }
        }
        std::mt19937 random(static_cast<unsigned>(c.rank()));
        for (int round = 0; round < 5; ++round) {
          std::shuffle(ends.begin(), ends.end(), random);
          for (End& end : ends) {
            if (end.channel->message().direction == comm::Message::Direction::send) {
              end.fill(c.rank(), end.channel->message().peer, round);
            }
            end.channel->start();
          }
          finish(ends);
          for (const End& end : ends) {
            const auto& m = end.channel->message();
            if (m.direction == comm::Message::Direction::receive) {
              expect(end.holds(m.peer, c.rank(), round), text_of(m) + " holds what was sent");
            }
          }
        }
      },
      small_parts);
}

TEST_CASE("the next message waits until the last one was received", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    if (c.size() < 2 || c.rank() > 1) {
      return;
    }
    End end = c.rank() == 0 ? sender(c, 1000, 1, 0) : receiver(c, 1000, 0, 0);
    for (int round = 0; round < 50; ++round) {
      if (c.rank() == 0) {
        end.fill(0, 1, round);
      }
      end.channel->start();
      c.wait(*end.channel);
      expect(c.rank() == 0 || end.holds(0, 1, round), "round after round in order");
    }
  });
}

TEST_CASE("a channel that was closed can be opened again, with another size", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    for (const std::size_t bytes : {100U, 7U, 3000U}) {
      std::vector<End> ends;
      ends.push_back(sender(c, bytes, (c.rank() + 1) % c.size(), 4));
      ends.push_back(receiver(c, bytes, (c.rank() + c.size() - 1) % c.size(), 4));
      ends[0].channel->start();
      ends[1].channel->start();
      finish(ends);
    }
  });
}

TEST_CASE("a channel is done before its first start and may not be started twice", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    auto in = receiver(c, 8, c.rank(), 1);
    expect(in.channel->done(), "nothing is under way");
    in.channel->start();
    expect(!in.channel->done(), "nothing was sent");
    bool refused = false;
    try {
      in.channel->start();
    } catch (const InternalError&) {
      refused = true;
    }
    expect(refused, "a second start is refused");
    auto out = sender(c, 8, c.rank(), 1);
    out.channel->start();
    c.wait(*in.channel);
    c.wait(*out.channel);
  });
}

TEST_CASE("starting, testing and small sums allocate nothing", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    auto out = sender(c, 10000, (c.rank() + 1) % c.size(), 0);
    auto in = receiver(c, 10000, (c.rank() + c.size() - 1) % c.size(), 0);
    std::vector<comm::Channel*> both{in.channel.get(), out.channel.get()};
    std::vector<double> values(comm::Communicator::small, 1.0);
    std::vector<std::int64_t> flags(comm::Communicator::small, 1);
    c.barrier();
    // Ranks that are threads share the count: all are between the two barriers when it is read.
    const long before = allocations();
    c.barrier();
    for (int step = 0; step < 100; ++step) {
      c.start(both);
      c.wait(*in.channel);
      c.wait(*out.channel);
      c.sum(values);
      c.max(flags);
      c.broadcast(std::as_writable_bytes(std::span(values)), 0);
    }
    c.barrier();
    const long after = allocations();
    c.barrier();
    expect(before > 0, "allocations are counted");
    expect(after == before, std::to_string(after - before) + " allocations are none");
  });
}

}  // namespace zygos::test_channels
