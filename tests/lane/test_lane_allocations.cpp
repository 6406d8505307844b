// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A step hands jobs to lanes thousands of times a second: that must not touch the heap.
#include "zygos/lane/lane_set.hpp"

#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) {
    return block;
  }
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

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

  const long before = allocations;
  for (int i = 0; i < 100; ++i) {
    lanes[0].run(first);
    lanes[1].run(second);
    lanes[0].wait();
    lanes[1].wait();
  }
  const long after = allocations;

  CHECK(before > 0);
  CHECK(after == before);
}
