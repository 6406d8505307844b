// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/await_change.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <thread>

namespace zygos::test_await_change {
using namespace zygos::lane;

TEST_CASE("a waiting thread returns once the counter has changed, spinning or asleep", "[lane]") {
  const auto spin_timeout = GENERATE(other_spin_timeout, computing_spin_timeout);
  const auto gives_way = GENERATE(GivesWay::no, GivesWay::yes);
  const auto pause = GENERATE(std::chrono::microseconds(0), std::chrono::microseconds(5000));
  std::atomic<std::uint32_t> counter{7};
  std::uint32_t seen = 0;

  std::thread waiting([&] {
    await_change(counter, 7, spin_timeout, gives_way);
    seen = counter.load();
  });
  std::this_thread::sleep_for(pause);
  counter.store(8);
  counter.notify_one();
  waiting.join();

  CHECK(seen == 8);
}

TEST_CASE("who waits until a time goes on at that time, or when the counter changes", "[lane]") {
  using Clock = std::chrono::steady_clock;
  std::atomic<std::uint32_t> counter{7};
  for (const auto wait : {std::chrono::microseconds(50), std::chrono::microseconds(3000)}) {
    const auto until = Clock::now() + wait;
    await_change(counter, 7, until);
    CHECK(Clock::now() >= until);
  }

  const auto begin = Clock::now();
  std::thread changing([&] { counter.store(8); });
  await_change(counter, 7, begin + std::chrono::hours(1));
  changing.join();
  CHECK(Clock::now() < begin + std::chrono::minutes(1));
}

TEST_CASE("nobody waits for a counter that has changed already", "[lane]") {
  const std::atomic<std::uint32_t> counter{8};

  await_change(counter, 7, computing_spin_timeout);

  CHECK(counter.load() == 8);
}

}  // namespace zygos::test_await_change
