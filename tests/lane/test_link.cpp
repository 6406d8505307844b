// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Lower bounds only: a shared machine may always be late, a model of a link must never be early.
#include "support/skip.hpp"

#include "zygos/lane/lane.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace zygos::test_link {
using namespace zygos::lane;

namespace {

/// Seconds `job` takes on `lane`, measured inside the job.
double seconds(Lane& lane, const std::function<void()>& job) {
  double taken = 0.0;
  lane.run_and_wait([&] {
    const auto begin = std::chrono::steady_clock::now();
    job();
    taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return taken;
}

}  // namespace

TEST_CASE("a copy arrives whole, to the lane and back", "[lane]") {
  const Kind kind = GENERATE(Kind::host, Kind::emulated);
  Lane lane({.name = "a", .kind = kind, .threads = 2});
  const auto count = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{300001});
  std::vector<unsigned char> there(count);
  std::vector<unsigned char> back(count, 0xff);
  for (std::size_t i = 0; i < count; ++i) {
    there[i] = static_cast<unsigned char>(i * 7);
  }
  const auto block = lane.allocator()(count + 1, "zygos::test::block");

  lane.run_and_wait([&] {
    lane.copy_to_lane(block.get(), there.data(), count, "zygos::test::to_lane");
    lane.copy_to_host(back.data(), block.get(), count, "zygos::test::to_host");
    lane.fence("zygos::test::copies_done");
  });

  CHECK(back == there);
}

TEST_CASE("every copy over a modelled link takes latency plus bytes over bandwidth", "[lane]") {
  const Link link{.bytes_per_second = 1e8, .latency_s = 1e-4};
  Lane lane({.name = "device", .kind = Kind::emulated, .link = link});
  std::vector<char> host(100000);
  const auto block = lane.allocator()(host.size(), "zygos::test::block");
  const auto bytes = GENERATE(std::size_t{0}, std::size_t{1000}, std::size_t{100000});

  const double there = seconds(
      lane, [&] { lane.copy_to_lane(block.get(), host.data(), bytes, "zygos::test::copy"); });
  const double three_times = seconds(lane, [&] {
    for (int i = 0; i < 3; ++i) {
      lane.copy_to_host(host.data(), block.get(), bytes, "zygos::test::copy");
    }
  });

  const double model = 1e-4 + static_cast<double>(bytes) / 1e8;
  CHECK(there >= model);
  CHECK(three_times >= 3.0 * model);
}

TEST_CASE("what a lane reads once crosses its link, but is copied only to a device", "[lane]") {
  const Kind kind = GENERATE(Kind::host, Kind::emulated);
  const bool emulated = kind == Kind::emulated;
  const Link link{.bytes_per_second = emulated ? 1e8 : 0.0, .latency_s = emulated ? 1e-4 : 0.0};
  Lane lane({.name = "a", .kind = kind, .link = link});
  std::vector<int> message(25000, 7);
  std::vector<int> landing(message.size(), 0);
  const int* read = nullptr;

  const double taken = seconds(lane, [&] {
    read = static_cast<const int*>(lane.readable(
        message.data(), landing.data(), message.size() * sizeof(int), "zygos::test::read"));
  });

  CHECK(read[24999] == 7);
  CHECK(taken >= (emulated ? 1e-4 + 100000 / 1e8 : 0.0));
}

TEST_CASE("the slow-down stretches a task of t seconds to slowdown times t", "[lane]") {
  const double slowdown = GENERATE(1.0, 1.5, 4.0, 34.0);
  Lane lane({.name = "device", .kind = Kind::emulated, .slowdown = slowdown});
  double task = 0.0;

  const double taken = seconds(lane, [&] {
    const auto begin = std::chrono::steady_clock::now();
    wait_precisely(1e-3);
    task = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    lane.hold_back(task);
  });

  CHECK(task >= 1e-3);
  CHECK(taken >= slowdown * task * 0.9999);
}

TEST_CASE("who has other work is told what a link and a slow-down take instead of waiting",
          "[lane]") {
  const Link link{.bytes_per_second = 1e6, .latency_s = 30.0};
  Lane lane({.name = "device", .kind = Kind::emulated, .link = link, .slowdown = 3.0});
  lane.open(Line::incoming);
  std::vector<char> host(1000000, 5);
  std::vector<char> other(host.size());
  double copied = 0.0, held_back = 0.0, left = -1.0, elsewhere = -1.0;

  const double taken = seconds(lane, [&] {
    lane.defer_waits(true);
    lane.copy_to_lane(other.data(), host.data(), host.size(), "zygos::test::copy");
    copied = lane.take_waits();
    lane.hold_back(7.0);
    held_back = lane.take_waits();
    left = lane.take_waits();
    lane.defer_waits(false);
  });
  const std::function<void()> job = [&] { elsewhere = lane.take_waits(); };
  lane.run(job, Line::incoming);
  lane.wait(Line::incoming);

  CHECK(other == host);
  CHECK(taken < 10.0);
  CHECK((copied > 31.0 - taken && copied <= 31.0));
  CHECK(held_back == 14.0);
  CHECK(left == 0.0);
  CHECK(elsewhere == 0.0);
}

TEST_CASE("a precise wait never ends early and takes no time for nothing to wait for", "[lane]") {
  for (const double wanted : {1e-6, 2e-5, 1.5e-4, 1e-3, 5e-3}) {
    const auto begin = std::chrono::steady_clock::now();
    wait_precisely(wanted);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;

    CHECK(taken.count() >= wanted * 0.9999);
  }
  const auto begin = std::chrono::steady_clock::now();
  wait_precisely(0.0);
  wait_precisely(-1e9);
  wait_precisely(std::numeric_limits<double>::quiet_NaN());

  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("a thread that sleeps has no core, one that spins has", "[lane]") {
  const auto core_s_of = [](const auto& work) {
    const double before = thread_core_seconds();
    work();
    return thread_core_seconds() - before;
  };
  if (thread_core_seconds() == 0.0) {
    zygos::test::skip_without("thread-times", "the system does not tell");
  }
  CHECK(core_s_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }) < 0.02);
  CHECK(core_s_of([] {
          const double begin = thread_core_seconds();
          while (thread_core_seconds() < begin + 0.005) {
          }
        }) >= 0.005);
}

}  // namespace zygos::test_link
