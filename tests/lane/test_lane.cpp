// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "host_kernel.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/lane/lane_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

namespace zygos::test_lane {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::lane;

namespace {

LaneSpec emulated(const std::string& name) { return {.name = name, .kind = Kind::emulated}; }

/// Sum of 0 .. count-1, computed by a kernel of the instance.
template <class Exec>
long sum_below(const Exec& exec, long count) {
  long sum = 0;
  Kokkos::parallel_reduce(
      "zygos::test::sum", Kokkos::RangePolicy<Exec>(exec, 0, count),
      KOKKOS_LAMBDA(const long i, long& part) { part += i; }, sum);
  return sum;
}

/// Raises one flag and waits until the other is up; false if that takes absurdly long.
bool meet(std::atomic<bool>& mine, const std::atomic<bool>& other) {
  mine = true;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!other) {
    if (std::chrono::steady_clock::now() > give_up) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("a job runs on the lane's own thread and always on the same one", "[lane]") {
  Lane lane({.name = "host"});
  std::thread::id first;
  std::thread::id second;

  lane.run_and_wait([&] { first = std::this_thread::get_id(); });
  lane.run_and_wait([&] { second = std::this_thread::get_id(); });

  CHECK(first != std::thread::id{});
  CHECK(first != std::this_thread::get_id());
  CHECK(first == second);
}

TEST_CASE("a lane computes on an instance of its own of the space and size it was asked for",
          "[lane]") {
  const auto space = GENERATE(HostSpace::openmp, HostSpace::serial);
  const int threads = space == HostSpace::serial ? 1 : GENERATE(1, 2, 3);
  Lane lane({.name = "host", .space = space, .threads = threads});
  long sum = 0;
  int concurrency = 0;

  lane.run_and_wait([&] {
    dispatch(lane.execution(), [&](const auto& exec) {
      sum = sum_below(exec, 1000);
      concurrency = static_cast<int>(exec.concurrency());
    });
  });

  CHECK(sum == 499500);
  CHECK(concurrency == threads);
  CHECK(std::holds_alternative<Kokkos::Serial>(lane.execution()) == (space == HostSpace::serial));
  if (space == HostSpace::openmp) {
    CHECK(std::get<Kokkos::OpenMP>(lane.execution()) != Kokkos::OpenMP());
  } else {
    CHECK(std::get<Kokkos::Serial>(lane.execution()) != Kokkos::Serial());
  }
}

TEST_CASE("wait rethrows what the job threw, once, and the lane goes on", "[lane]") {
  Lane lane({.name = "host"});
  const std::function<void()> failing = [] { throw zygos::NumericError("loss is NaN"); };
  bool ran = false;

  lane.run(failing);

  CHECK_THROWS_AS(lane.wait(), zygos::NumericError);
  CHECK_NOTHROW(lane.wait());
  lane.run_and_wait([&] { ran = true; });
  CHECK(ran);
}

TEST_CASE("an exception of any type crosses from lane to caller", "[lane]") {
  Lane lane({.name = "host"});

  CHECK_THROWS_AS(lane.run_and_wait([] { throw 42; }), int);
  CHECK_THROWS_WITH(lane.run_and_wait([] { throw std::runtime_error("as it was"); }), "as it was");
}

TEST_CASE("when one lane fails the other ends its job and can be used again", "[lane]") {
  LaneSet lanes({{.name = "host"}, emulated("device")});
  std::atomic<bool> finished{false};
  const std::function<void()> failing = [] { throw zygos::NumericError("stop"); };
  const std::function<void()> working = [&] { finished = true; };

  lanes[0].run(failing);
  lanes[1].run(working);

  CHECK_THROWS_AS(lanes[0].wait(), zygos::NumericError);
  CHECK_NOTHROW(lanes[1].wait());
  CHECK(finished);
}

TEST_CASE("a second job before wait is refused and does not disturb the first", "[lane]") {
  Lane lane({.name = "host"});
  std::atomic<bool> release{false};
  const std::function<void()> first = [&] {
    while (!release) {
      std::this_thread::yield();
    }
  };
  const std::function<void()> second = [] {};

  lane.run(first);
  CHECK_THROWS_AS(lane.run(second), zygos::InternalError);
  release = true;

  CHECK_NOTHROW(lane.wait());
  CHECK_NOTHROW(lane.run_and_wait(second));
}

TEST_CASE("a job that waits for its own lane is refused instead of hanging", "[lane]") {
  Lane lane({.name = "host"});

  CHECK_THROWS_AS(lane.run_and_wait([&] { lane.wait(); }), zygos::InternalError);
  CHECK_THROWS_AS(lane.run_and_wait([&] { lane.run_and_wait([] {}); }), zygos::InternalError);
}

TEST_CASE("a lane that is destroyed waits for its job", "[lane]") {
  std::atomic<bool> ended{false};
  const std::function<void()> slow = [&] {
    wait_precisely(0.02);
    ended = true;
    throw std::runtime_error("nobody waits for this");
  };

  {
    Lane lane({.name = "host"});
    lane.run(slow);
  }

  CHECK(ended);
}

TEST_CASE("two lanes run at the same time: each kernel waits for the other", "[lane]") {
  const auto space = GENERATE(HostSpace::openmp, HostSpace::serial);
  LaneSet lanes({{.name = "host"}, {.name = "device", .kind = Kind::emulated, .space = space}});
  std::atomic<bool> up[2] = {false, false};
  bool met[2] = {false, false};
  const auto job = [&](std::size_t place) {
    return [&, place] {
      zygos::testing::host_kernel(lanes[place].execution(), "zygos::test::meet", 1,
                                  [&](int) { met[place] = meet(up[place], up[1 - place]); });
    };
  };
  const std::function<void()> first = job(0);
  const std::function<void()> second = job(1);

  lanes[0].run(first);
  lanes[1].run(second);
  lanes[0].wait();
  lanes[1].wait();

  CHECK(met[0]);
  CHECK(met[1]);
}

TEST_CASE("thousands of short jobs on two lanes all run, with and without pauses", "[lane]") {
  LaneSet lanes({{.name = "host"}, emulated("device")});
  int counts[2] = {0, 0};
  const std::function<void()> first = [&] { ++counts[0]; };
  const std::function<void()> second = [&] { ++counts[1]; };

  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0) {
      wait_precisely(2e-4);  // longer than a driver spins, so that it has to be woken
    }
    lanes[0].run(first);
    lanes[1].run(second);
    lanes[1].wait();
    lanes[0].wait();
  }

  CHECK(counts[0] == 3000);
  CHECK(counts[1] == 3000);
}

TEST_CASE("copies, fences and hold-backs outside a job are refused", "[lane]") {
  Lane lane(emulated("device"));
  int a = 1;
  int b = 2;

  CHECK_THROWS_WITH(lane.copy_to_lane(&a, &b, sizeof a, "zygos::test::copy"),
                    ContainsSubstring("lane 'device'") && ContainsSubstring("outside a job"));
  CHECK_THROWS_AS(lane.copy_to_host(&a, &b, sizeof a, "zygos::test::copy"), zygos::InternalError);
  CHECK_THROWS_AS(lane.readable(&b, &a, sizeof a, "zygos::test::read"), zygos::InternalError);
  CHECK_THROWS_AS(lane.fence("zygos::test::fence"), zygos::InternalError);
  CHECK_THROWS_AS(lane.hold_back(1.0), zygos::InternalError);
}

TEST_CASE("a caller's instance is used as it is and described by the lane", "[lane]") {
  const Kokkos::OpenMP mine(2);
  Lane lane({.name = "host", .space = HostSpace::serial, .threads = 1}, Execution(mine));
  long sum = 0;

  lane.run_and_wait([&] {
    sum = sum_below(std::get<Kokkos::OpenMP>(lane.execution()), 10);
    lane.fence("zygos::test::fence");
  });

  CHECK(sum == 45);
  CHECK(std::get<Kokkos::OpenMP>(lane.execution()) == mine);
  CHECK(lane.spec().space == HostSpace::openmp);
  CHECK(lane.spec().threads == 2);
}

TEST_CASE("only a host lane's memory and a unified one's may be touched by host code", "[lane]") {
  CHECK(Lane({.name = "host"}).host_accessible());
  CHECK(Lane({.name = "apu", .kind = Kind::emulated, .unified = true}).host_accessible());
  CHECK_FALSE(Lane(emulated("device")).host_accessible());
}

TEST_CASE("a spec that can't be served is refused with what is allowed", "[lane]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Link link{.bytes_per_second = 1e9, .latency_s = 1e-6};

  CHECK_THROWS_WITH(Lane({.name = ""}), ContainsSubstring("needs a name"));
  CHECK_THROWS_WITH(Lane({.name = "a", .threads = 0}), ContainsSubstring("lane 'a'") &&
                                                           ContainsSubstring("threads = 0") &&
                                                           ContainsSubstring("1 to 512"));
  CHECK_THROWS_WITH(Lane({.name = "a", .threads = 513}), ContainsSubstring("threads = 513"));
  CHECK_THROWS_WITH(Lane({.name = "a", .slowdown = 0.5}), ContainsSubstring("slowdown = 0.5"));
  CHECK_THROWS_AS(Lane({.name = "a", .slowdown = nan}), zygos::UsageError);
  CHECK_THROWS_WITH(Lane({.name = "a", .link = link}), ContainsSubstring("'emulated'"));
  CHECK_THROWS_WITH(Lane({.name = "a", .unified = true}), ContainsSubstring("'emulated'"));
  CHECK_THROWS_WITH(Lane({.name = "a", .kind = Kind::emulated, .link = link, .unified = true}),
                    ContainsSubstring("leave one of them out"));
  CHECK_THROWS_WITH(Lane({.name = "a", .kind = Kind::emulated, .link = {.latency_s = -1.0}}),
                    ContainsSubstring("not negative"));
}

TEST_CASE("only a device's stream needs a clock, which tells when its kernels ran", "[lane]") {
  CHECK(Lane({.name = "host"}).stream_clock(Line::compute) == nullptr);
  CHECK(Lane(emulated("device")).stream_clock(Line::compute) == nullptr);
  if (device_count() > 0) {
    Lane gpu({.name = "gpu", .kind = Kind::device});
    const auto clock = gpu.stream_clock(Line::compute);
    if (clock == nullptr) {
      return;  // a device without events that Zygos knows
    }
    gpu.run_and_wait([&] {
      clock->start(100.0);
      const std::size_t before = clock->mark();
      dispatch(gpu.execution_here(), [](const auto& exec) { sum_below(exec, 1 << 20); });
      const std::size_t behind = clock->mark();
      gpu.fence("zygos::test::clock");
      CHECK(clock->seconds_at(before) >= 100.0);
      CHECK(clock->seconds_at(behind) > clock->seconds_at(before));
      CHECK(clock->seconds_at(behind) < 110.0);
    });
    CHECK(
        Lane({.name = "slow", .kind = Kind::device, .slowdown = 2.0}).stream_clock(Line::compute) ==
        nullptr);
  }
}

TEST_CASE("a device lane in a build without devices is refused with the way out", "[lane]") {
  if (device_count() == 0 && device_space_name() == "none") {
    CHECK_THROWS_AS(Lane({.name = "gpu", .kind = Kind::device}), zygos::UsageError);
    CHECK_THROWS_WITH(Lane({.name = "gpu", .kind = Kind::device}),
                      ContainsSubstring("lane 'gpu'") && ContainsSubstring("emulated") &&
                          ContainsSubstring("ZYGOS_DEVICE"));
  }
  CHECK_THROWS_AS(Lane({.name = "gpu", .kind = Kind::device}, Execution(Kokkos::Serial())),
                  zygos::UsageError);
}

TEST_CASE("every kind of lane has a name", "[lane]") {
  CHECK(name_of(Kind::host) == "host");
  CHECK(name_of(Kind::emulated) == "emulated");
  CHECK(name_of(Kind::device) == "device");
}

}  // namespace zygos::test_lane
