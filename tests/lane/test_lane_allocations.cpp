// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A step hands jobs to lanes thousands of times a second: that must not touch the heap.
#include "support/allocation_counter.hpp"

#include "zygos/lane/lane_set.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>
#include <string>
#include <vector>

namespace zygos::test_lane_allocations {
TEST_CASE("running jobs, copies, fences and hold-backs allocates nothing", "[lane]") {
  using namespace zygos::lane;
  const Link link{.bytes_per_second = 1e12, .latency_s = 1e-7};
  LaneSet lanes({{.name = "host", .threads = 2},
                 {.name = "device", .kind = Kind::emulated, .link = link, .slowdown = 1.01}});
  std::vector<char> host(1 << 20);
  const auto block = lanes[1].allocator()(host.size(), "zygos::test::a_label_beyond_small_strings");
  const std::string label = "zygos::test::a_label_beyond_small_strings";
  const std::function<void()> first = [&] { lanes[0].fence(label); };
  const std::function<void()> second = [&] {
    lanes[1].copy_to_lane(block.get(), host.data(), host.size(), label);
    lanes[1].copy_to_host(host.data(), block.get(), host.size(), label);
    lanes[1].fence(label);
    lanes[1].hold_back(1e-6);
  };

  const long before = zygos::testing::allocations();
  for (int i = 0; i < 100; ++i) {
    lanes[0].run(first);
    lanes[1].run(second);
    lanes[0].wait();
    lanes[1].wait();
  }
  const long after = zygos::testing::allocations();

  CHECK(before > 0);
  CHECK(after == before);
}

}  // namespace zygos::test_lane_allocations
