// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The communicator over NCCL on a table of fakes: what it calls, and what it says when NCCL fails.
#include "comm/fake_nccl.hpp"
#include "comm/ranks.hpp"

#include "zygos/comm/in_process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_nccl {
using namespace zygos::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int unhandled_cuda_error = 1;
constexpr int system_error = 2;
constexpr int invalid_usage = 5;
constexpr int remote_error = 6;
constexpr int in_progress = comm::nccl_code::in_progress;
using Calls = std::vector<std::string>;
using Bytes = std::vector<std::byte>;

/// The only rank of a group of one, over a fake. The test may change the fake before it starts.
struct Alone {
  FakeNccl fake;
  std::unique_ptr<comm::Communicator> control = std::move(comm::in_process_group(1).front());
  std::unique_ptr<comm::NcclCommunicator> nccl;

  comm::NcclCommunicator& started(double time_limit_s = 60.0) {
    nccl = comm::nccl_communicator_over(fake.table(), *control, nullptr,
                                        {.time_limit_s = time_limit_s});
    fake.calls.clear();
    return *nccl;
  }
};

/// A message from the rank to itself.
struct Exchange {
  explicit Exchange(comm::Communicator& c, std::size_t sent = 8, std::size_t received = 8)
      : out(sent, std::byte{7}),
        in(received),
        sender(c.open_send(out, 0, 3)),
        receiver(c.open_receive(in, 0, 3)) {}

  void start(comm::Communicator& c) {
    const std::vector<comm::Channel*> both{sender.get(), receiver.get()};
    c.start(both);
  }
  /// Both ends are polled, as their sizes are compared through each other.
  void finish() {
    bool all = false;
    while (!all) {
      all = sender->done();
      all = receiver->done() && all;
    }
  }

  Bytes out;
  Bytes in;
  std::unique_ptr<comm::Channel> sender;
  std::unique_ptr<comm::Channel> receiver;
};

}  // namespace

TEST_CASE("a build without NCCL says how to get it", "[comm]") {
  if (comm::nccl_available()) {
    return;  // tests of the fake need no device, a real communicator does
  }
  const auto control = std::move(comm::in_process_group(1).front());
  CHECK_THROWS_WITH(comm::nccl_communicator(*control, nullptr),
                    ContainsSubstring("ZYGOS_ENABLE_NCCL=ON"));
}

TEST_CASE("all ranks start NCCL with the first one's id, and end it", "[comm]") {
  on_every_rank([](comm::Communicator& control) {
    FakeNccl fake;
    fake.states = {in_progress, in_progress, 0};
    const auto c = comm::nccl_communicator_over(fake.table(), control, nullptr, {});
    expect(fake.called("get_id") == (control.rank() == 0), "only the first rank makes an id");
    expect(fake.id[5] == std::byte{42}, "the id came over the other communicator");
    expect(fake.rank == control.rank() && fake.size == control.size(), "ranks are the same");
    expect(c->kind() == "nccl" && c->device_channels(), "it tells what it is");
    control.barrier();
  });

  Alone alone;
  alone.started();
  alone.nccl.reset();
  CHECK(alone.fake.calls == Calls{"finalize", "destroy"});
  CHECK(alone.fake.open_events == 0);
}

TEST_CASE("messages meet by tag when started together, in whatever order", "[comm]") {
  const auto links = std::make_shared<FakeLinks>();
  on_every_rank([&](comm::Communicator& control) {
    FakeNccl fake(links);
    const auto c = comm::nccl_communicator_over(fake.table(), control, nullptr, {});
    const int peer = c->size() - 1 - c->rank();
    std::vector<Bytes> buffers;
    std::vector<std::unique_ptr<comm::Channel>> channels;
    buffers.reserve(16);
    for (int i = 0; i < 8; ++i) {
      const int tag = c->rank() % 2 == 0 ? i : 7 - i;  // half of the ranks the other way round
      const auto bytes = static_cast<std::size_t>(tag * 3);
      channels.push_back(
          c->open_send(buffers.emplace_back(bytes, static_cast<std::byte>(tag)), peer, tag));
      channels.push_back(c->open_receive(buffers.emplace_back(bytes), peer, tag));
    }
    std::vector<comm::Channel*> all;
    for (const auto& channel : channels) {
      all.push_back(channel.get());
    }
    for (int round = 0; round < 3; ++round) {
      c->start(all);
      for (bool done = false; !done;) {
        done = true;
        for (comm::Channel* const channel : all) {
          done = channel->done() && done;
        }
      }
      for (std::size_t i = 1; i < buffers.size(); i += 2) {
        const auto tag = static_cast<std::byte>(all[i]->message().tag);
        expect(buffers[i] == Bytes(buffers[i].size(), tag), "each got what has its tag");
        std::fill(buffers[i].begin(), buffers[i].end(), std::byte{255});
      }
    }
    expect(fake.open_groups == 0, "every group was ended");
    control.barrier();
  });
}

TEST_CASE("a message started alone is a group of its own", "[comm]") {
  Alone alone;
  auto& c = alone.started();
  Exchange exchange(c);
  exchange.sender->start();
  exchange.receiver->start();
  exchange.finish();
  CHECK(exchange.in == exchange.out);
  CHECK(alone.fake.calls ==
        Calls{"group_start", "send", "group_end", "group_start", "receive", "group_end"});
}

TEST_CASE("collectives of host memory go over the other communicator", "[comm]") {
  Alone alone;
  auto& c = alone.started();
  std::vector<double> values{2.5};
  c.sum(values);
  c.barrier();
  Bytes bytes(3);
  c.broadcast(bytes, 0);
  CHECK(values[0] == 2.5);
  CHECK(alone.fake.calls.empty());
}

TEST_CASE("sums and broadcasts of device memory are started and waited for", "[comm]") {
  Alone alone;
  auto& c = alone.started();
  alone.fake.returns["sum"] = in_progress;
  alone.fake.states = {in_progress, in_progress, 0};
  Bytes memory(64);
  c.start_sum(memory.data(), 8, DType::f64);
  c.start_broadcast(memory, 0);
  c.finish();
  CHECK(alone.fake.calls == Calls{"sum", "broadcast"});
  CHECK_THROWS_WITH(c.start_sum(memory.data(), 8, DType::i32),
                    ContainsSubstring("allowed are f32 and f64"));
}

TEST_CASE("NCCL that does not start is reported and aborted", "[comm]") {
  const auto refusal = [](Alone& alone, double time_limit_s) {
    return peer_error([&] { alone.started(time_limit_s); });
  };
  {
    Alone alone;
    alone.fake.returns["get_id"] = system_error;
    CHECK_THAT(refusal(alone, 60.0), ContainsSubstring("rank 0: making NCCL's id: NCCL: code 2"));
  }
  {
    Alone alone;
    alone.fake.returns["init"] = unhandled_cuda_error;
    CHECK_THAT(refusal(alone, 60.0),
               ContainsSubstring("rank 0: starting NCCL with 1 ranks: NCCL: code 1"));
    CHECK(alone.fake.calls == Calls{"get_id", "init", "abort"});
  }
  {
    Alone alone;
    alone.fake.returns["init"] = in_progress;
    alone.fake.states = {in_progress, system_error};
    CHECK_THAT(refusal(alone, 60.0), ContainsSubstring("NCCL: code 2"));
    CHECK(alone.fake.called("abort"));
  }
  {
    Alone alone;
    alone.fake.states = {in_progress};
    CHECK_THAT(refusal(alone, 0.05), ContainsSubstring("no progress for 0.05 s"));
    CHECK(alone.fake.called("abort"));
  }
  {
    Alone alone;
    alone.fake.can_create_events = false;
    CHECK_THAT(refusal(alone, 60.0), ContainsSubstring("an illegal memory access"));
    CHECK(alone.fake.called("abort"));
  }
}

TEST_CASE("whatever fails when a message is started is named, and NCCL aborted", "[comm]") {
  for (const char* const function : {"group_start", "send", "receive", "group_end"}) {
    for (const int code : {unhandled_cuda_error, invalid_usage, remote_error}) {
      Alone alone;
      auto& c = alone.started();
      Exchange exchange(c);
      alone.fake.returns[function] = code;
      const auto text = peer_error([&] { exchange.start(c); });
      CAPTURE(function, code);
      CHECK_THAT(text, ContainsSubstring("rank 0: ") &&
                           ContainsSubstring(": NCCL: code " + std::to_string(code)));
      if (std::string(function) == "send") {
        CHECK_THAT(text, ContainsSubstring("send of 8 bytes to rank 0 with tag 3"));
      }
      CHECK(alone.fake.calls.back() == "abort");
      if (std::string(function) != "group_start") {
        CHECK(alone.fake.open_groups == 0);
      }
      CHECK_THAT(peer_error([&] { c.barrier(); }), ContainsSubstring("NCCL is not used any more"));
      CHECK_THAT(peer_error([&] { c.open_send(exchange.out, 0, 4); }),
                 ContainsSubstring("code " + std::to_string(code)));
      CHECK(std::count(alone.fake.calls.begin(), alone.fake.calls.end(), "abort") == 1);
    }
  }
}

TEST_CASE("an error that comes while a message is under way ends the wait", "[comm]") {
  Alone alone;
  auto& c = alone.started();
  Exchange exchange(c);
  exchange.start(c);
  alone.fake.events_end = false;
  alone.fake.states = {0, 0, 0, remote_error};
  CHECK_THAT(peer_error([&] { exchange.finish(); }), ContainsSubstring("with tag 3: NCCL: code 6"));
  CHECK(alone.fake.calls.back() == "abort");
}

TEST_CASE("an error of CUDA is told from one of NCCL", "[comm]") {
  {
    Alone alone;
    auto& c = alone.started();
    Exchange exchange(c);
    alone.fake.can_record_events = false;
    CHECK_THAT(peer_error([&] { exchange.start(c); }),
               ContainsSubstring("with tag 3: CUDA: an illegal memory access"));
  }
  {
    Alone alone;
    auto& c = alone.started();
    Exchange exchange(c);
    exchange.start(c);
    alone.fake.events_fail = true;
    CHECK_THAT(peer_error([&] { exchange.finish(); }),
               ContainsSubstring("with tag 3: CUDA: an illegal memory access"));
    CHECK(alone.fake.calls.back() == "abort");
  }
}

TEST_CASE("a message that does not end is given up, and the stream freed of it", "[comm]") {
  Alone alone;
  auto& c = alone.started(0.05);
  Exchange exchange(c);
  exchange.start(c);
  alone.fake.events_end = false;
  CHECK_THAT(peer_error([&] { exchange.finish(); }),
             ContainsSubstring("with tag 3: no progress for 0.05 s"));
  CHECK(alone.fake.calls.back() == "abort");
}

TEST_CASE("NCCL that stays busy with starting a message is given up", "[comm]") {
  Alone alone;
  auto& c = alone.started(0.05);
  Exchange exchange(c);
  alone.fake.returns["group_end"] = in_progress;
  alone.fake.states = {in_progress};
  CHECK_THAT(peer_error([&] { exchange.start(c); }),
             ContainsSubstring("starting several messages: no progress for 0.05 s"));
  CHECK(alone.fake.calls.back() == "abort");
}

TEST_CASE("two ends with different sizes are found before the bytes are used", "[comm]") {
  Alone alone;
  auto& c = alone.started();
  Exchange exchange(c, 8, 12);
  exchange.start(c);
  CHECK_THAT(peer_error([&] { exchange.finish(); }),
             ContainsSubstring("receive of 12 bytes from rank 0 with tag 3: the sender has 8"));
  CHECK(alone.fake.calls.back() == "abort");
}

TEST_CASE("collectives of device memory that fail are named", "[comm]") {
  Bytes memory(64);
  {
    Alone alone;
    alone.started();
    alone.fake.returns["sum"] = invalid_usage;
    CHECK_THAT(peer_error([&] { alone.nccl->start_sum(memory.data(), 16, DType::f32); }),
               ContainsSubstring("rank 0: sum of 16 f32: NCCL: code 5"));
  }
  {
    Alone alone;
    alone.started();
    alone.fake.returns["broadcast"] = remote_error;
    CHECK_THAT(peer_error([&] { alone.nccl->start_broadcast(memory, 0); }),
               ContainsSubstring("broadcast of 64 bytes from rank 0: NCCL: code 6"));
  }
  {
    Alone alone;
    alone.started(0.05).start_broadcast(memory, 0);
    alone.fake.events_end = false;
    CHECK_THAT(peer_error([&] { alone.nccl->finish(); }), ContainsSubstring("no progress"));
    CHECK(alone.fake.calls.back() == "abort");
  }
}

TEST_CASE("NCCL that does not end is aborted", "[comm]") {
  Alone alone;
  alone.started();
  alone.fake.returns["finalize"] = remote_error;
  alone.nccl.reset();
  CHECK(alone.fake.calls == Calls{"finalize", "abort"});
}

TEST_CASE("a rank that aborts frees its stream and wakes the others", "[comm]") {
  on_every_rank([](comm::Communicator& control) {
    FakeNccl fake;
    const auto c = comm::nccl_communicator_over(fake.table(), control, nullptr, {});
    Bytes buffer(5);
    const auto channel = c->open_receive(buffer, 0, 1);
    control.barrier();
    if (c->rank() == 0) {
      c->abort("loss is NaN");
      expect(fake.called("abort"), "NCCL was aborted");
    } else {
      const auto wait = [&] {
        channel->start();
        c->wait(*channel);
      };
      expect_contains(peer_error(wait), "rank 0 has failed: loss is NaN");
    }
  });
}

}  // namespace zygos::test_nccl
