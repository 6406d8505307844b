// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a profiler sees of a lane: everything under our labels, nothing off its lane.
#include "support/tools_recorder.hpp"

#include "zygos/lane/dispatch.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/memory/arena.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace zygos::test_lane_tools {
using namespace zygos::lane;
using zygos::memory::Category;
using zygos::testing::Event;
using zygos::testing::EventKind;
using zygos::testing::is_zygos_label;
using zygos::testing::ToolsRecorder;

namespace {

template <class Exec>
void set_all(const Exec& exec, float* values, std::size_t count, float value) {
  Kokkos::parallel_for(
      "zygos::test::set_all", Kokkos::RangePolicy<Exec>(exec, 0, count),
      KOKKOS_LAMBDA(const std::size_t i) { values[i] = value; });
}

zygos::memory::Arena arena_of(const Lane& lane, std::size_t bytes) {
  zygos::memory::ArenaLayout layout;
  layout.add(Category::activations, "x", bytes);
  return {layout, lane.name(), 0, lane.allocator()};
}

std::vector<std::string> labels(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    out.push_back(event.label);
  }
  return out;
}

}  // namespace

TEST_CASE("a label is ours if it reads zygos::module::thing", "[lane]") {
  CHECK(is_zygos_label("zygos::memory::arena(host)"));
  CHECK(is_zygos_label("zygos::ops::gemm"));
  CHECK_FALSE(is_zygos_label("zygos::gemm"));
  CHECK_FALSE(is_zygos_label("Kokkos::View"));
  CHECK_FALSE(is_zygos_label("my zygos::ops::gemm"));
  CHECK_FALSE(is_zygos_label(""));
}

TEST_CASE("allocations, copies, kernels and fences of a lane are labelled and on its thread",
          "[lane]") {
  constexpr std::size_t count = 100000;
  const auto space = GENERATE(HostSpace::openmp, HostSpace::serial);
  Lane lane({.name = "device", .kind = Kind::emulated, .space = space});
  std::vector<float> host(count, 1.0F);
  std::thread::id driver;
  const ToolsRecorder recorder;

  {
    const auto arena = arena_of(lane, count * sizeof(float));
    auto* const values = reinterpret_cast<float*>(arena.at(0));
    lane.run_and_wait([&] {
      driver = std::this_thread::get_id();
      lane.copy_to_lane(values, host.data(), count * sizeof(float), "zygos::test::to_lane");
      dispatch(lane.execution(), [&](const auto& exec) { set_all(exec, values, count, 2.0F); });
      lane.fence("zygos::test::kernel_done");
      lane.copy_to_host(host.data(), values, count * sizeof(float), "zygos::test::to_host");
    });
  }

  CHECK(labels(recorder.foreign()).empty());
  CHECK(labels(recorder.events(EventKind::allocation)) ==
        std::vector<std::string>{"zygos::memory::arena(device)"});
  CHECK(recorder.events(EventKind::deallocation).size() == 1);
  CHECK(labels(recorder.events(EventKind::deep_copy)) ==
        std::vector<std::string>{"zygos::test::to_lane", "zygos::test::to_host"});
  CHECK(recorder.events(EventKind::deep_copy)[0].bytes == count * sizeof(float));
  CHECK(labels(recorder.events(EventKind::kernel)) ==
        std::vector<std::string>{"zygos::test::set_all"});
  CHECK(recorder.events(EventKind::kernel)[0].thread == driver);
  CHECK(recorder.events(EventKind::kernel)[0].space() ==
        (space == HostSpace::serial ? "Serial" : "OpenMP"));
  CHECK(labels(recorder.events(EventKind::fence)) ==
        std::vector<std::string>{"zygos::test::kernel_done"});
  CHECK(recorder.events(EventKind::fence)[0].thread == driver);
  CHECK(host[count - 1] == 2.0F);
}

TEST_CASE("lanes never fence globally, neither at work nor when their memory goes", "[lane]") {
  const ToolsRecorder recorder;

  {
    LaneSet lanes({{.name = "host", .threads = 2}, {.name = "device", .kind = Kind::emulated}});
    const auto arena = arena_of(lanes[0], 4096);
    const auto staging = lanes[1].staging_allocator()(64, "zygos::test::staging");
    for (std::size_t place = 0; place < lanes.size(); ++place) {
      lanes[place].run_and_wait([&] {
        lanes[place].copy_to_lane(arena.at(0), staging.get(), 64, "zygos::test::copy");
        lanes[place].fence("zygos::test::fence");
      });
    }
  }

  const auto fences = recorder.events(EventKind::fence);
  CHECK(fences.size() == 2);
  CHECK(std::none_of(fences.begin(), fences.end(),
                     [](const Event& event) { return event.is_global_fence(); }));
}

TEST_CASE("the recorder tells a global fence from one of a single instance", "[lane]") {
  const ToolsRecorder recorder;

  Kokkos::OpenMP().fence("zygos::test::one");
  Kokkos::fence("zygos::test::all");

  const auto fences = recorder.events(EventKind::fence);
  REQUIRE(fences.size() >= 2);
  CHECK_FALSE(fences.front().is_global_fence());
  CHECK(fences.back().is_global_fence());
}

TEST_CASE("a recorder that is gone records nothing and the next one starts empty", "[lane]") {
  { const ToolsRecorder recorder; }
  Kokkos::OpenMP().fence("zygos::test::unseen");

  const ToolsRecorder recorder;

  CHECK(recorder.events().empty());
  CHECK_FALSE(Kokkos::Tools::Experimental::get_callbacks().begin_fence == nullptr);
  CHECK_THROWS_AS(ToolsRecorder(), std::logic_error);
}

}  // namespace zygos::test_lane_tools
