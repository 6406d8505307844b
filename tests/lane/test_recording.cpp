// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Work of a lane that is kept and launched again.
#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/lane/lane.hpp"
#include "zygos/lane/lane_set.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <memory>
#include <stdexcept>

namespace zygos::test_recording {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::lane;

namespace {

LaneSpec recording() { return {.name = "device", .kind = Kind::emulated, .records = true}; }

/// numbers[i] += numbers[0] for i in 1 .. count-1; a kernel that reads what differs from memory.
template <class Exec>
void add_first(const Exec& exec, double* numbers, long count) {
  Kokkos::parallel_for(
      "zygos::test::add_first", Kokkos::RangePolicy<Exec>(exec, 1, count),
      KOKKOS_LAMBDA(const long i) { numbers[i] += numbers[0]; });
}

/// Adds 3 and 4 to zeros by one recording; what there is after the recording and at the end.
std::pair<double, double> sums_on(Lane& lane) {
  constexpr std::size_t count = 4;
  const memory::Block block = lane.allocator()(count * sizeof(double), "zygos::test::numbers");
  auto* const numbers = reinterpret_cast<double*>(block.get());
  std::pair<double, double> sums;
  lane.run_and_wait([&] {
    const auto set_first = [&](double value) {
      lane.copy_to_lane(numbers, &value, sizeof(value), "zygos::test::first");
      lane.fence("zygos::test::first");
    };
    const auto last = [&] {
      double value = 0.0;
      lane.copy_to_host(&value, numbers + count - 1, sizeof(value), "zygos::test::last");
      lane.fence("zygos::test::last");
      return value;
    };
    const std::function<void()> add = [&] {
      dispatch(lane.execution(), [&](const auto& exec) { add_first(exec, numbers, count); });
    };
    const double zeros[count] = {};
    lane.copy_to_lane(numbers, zeros, sizeof(zeros), "zygos::test::zeros");
    add();  // with a zero: kernels run before they are recorded
    lane.fence("zygos::test::add");
    const std::unique_ptr<Recording> kept = lane.record(add);
    set_first(3.0);
    sums.first = last();
    kept->launch();
    lane.fence("zygos::test::launch");
    set_first(4.0);
    kept->launch();
    sums.second = last();
  });
  return sums;
}

}  // namespace

TEST_CASE("recorded work runs when it is launched, as often as it is", "[lane]") {
  Lane emulated(recording());
  REQUIRE(emulated.records());
  CHECK(sums_on(emulated) == std::pair(0.0, 7.0));
  if (device_count() > 0) {
    Lane gpu({.name = "gpu", .kind = Kind::device});
    if (gpu.records()) {
      CHECK(sums_on(gpu) == std::pair(0.0, 7.0));
    }
  }
}

TEST_CASE("what recorded work throws goes on to the caller, and the lane can be used", "[lane]") {
  Lane lane(recording());
  lane.run_and_wait([&] {
    const auto failing = lane.record([] { throw std::runtime_error("as it was"); });
    CHECK_THROWS_WITH(failing->launch(), "as it was");
    CHECK_THROWS_WITH(failing->launch(), "as it was");
  });
  CHECK(sums_on(lane).second == 7.0);
  if (device_count() > 0) {
    Lane gpu({.name = "gpu", .kind = Kind::device});
    if (gpu.records()) {
      gpu.run_and_wait([&] {
        CHECK_THROWS_WITH(gpu.record([] { throw std::runtime_error("as it was"); }), "as it was");
      });
      CHECK(sums_on(gpu).second == 7.0);
    }
  }
}

TEST_CASE("marks in recorded work tell the times of its last launch", "[lane]") {
  if (device_count() == 0) {
    return;
  }
  Lane gpu({.name = "gpu", .kind = Kind::device});
  const auto clock = gpu.stream_clock(Line::compute);
  if (clock == nullptr || !gpu.records()) {
    return;
  }
  gpu.run_and_wait([&] {
    std::size_t begin = 0;
    std::size_t end = 0;
    const auto kept = gpu.record([&] {
      begin = clock->recorded_mark();
      end = clock->recorded_mark();
    });
    for (const double now_s : {100.0, 200.0}) {
      clock->start(now_s);
      kept->launch();
      gpu.fence("zygos::test::launch");
      CHECK(clock->seconds_at(begin) >= now_s);
      CHECK(clock->seconds_at(end) >= clock->seconds_at(begin));
      CHECK(clock->seconds_at(end) < now_s + 10.0);
    }
  });
}

TEST_CASE("only lanes that keep work record it", "[lane]") {
  Lane host({.name = "host"});
  CHECK_FALSE(host.records());
  CHECK_FALSE(Lane({.name = "device", .kind = Kind::emulated}).records());
  CHECK_FALSE(Lane::remote(recording())->records());
  host.run_and_wait([&] { CHECK_THROWS_AS(host.record([] {}), zygos::InternalError); });
  CHECK_THROWS_AS(Lane(recording()).record([] {}), zygos::InternalError);  // outside a job
  CHECK_THROWS_WITH(Lane({.name = "host", .records = true}), ContainsSubstring("'emulated'"));
  CHECK_THROWS_WITH(Lane({.name = "apu", .kind = Kind::emulated, .unified = true, .records = true}),
                    ContainsSubstring("unified"));
}

}  // namespace zygos::test_recording
