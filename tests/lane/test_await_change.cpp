// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/await_change.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <thread>

using namespace zygos::lane;

TEST_CASE("who waits goes on once the counter has changed, awake or asleep", "[lane]") {
  const auto patience = GENERATE(other_patience, computing_patience);
  const auto pause = GENERATE(std::chrono::microseconds(0), std::chrono::microseconds(5000));
  std::atomic<std::uint32_t> counter{7};
  std::uint32_t seen = 0;

  std::thread waiting([&] {
    await_change(counter, 7, patience);
    seen = counter.load();
  });
  std::this_thread::sleep_for(pause);
  counter.store(8);
  counter.notify_one();
  waiting.join();

  CHECK(seen == 8);
}

TEST_CASE("nobody waits for a counter that has changed already", "[lane]") {
  const std::atomic<std::uint32_t> counter{8};

  await_change(counter, 7, computing_patience);

  CHECK(counter.load() == 8);
}
