// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/lane_choice.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::app::test_lane_choice {
namespace {

std::vector<LaneRequest> host_and_any_device() {
  LaneRequest host{.spec = {.name = "host"}};
  LaneRequest device{.spec = {.name = "device"}, .any_device = true};
  device.spec.slowdown = 4.0;
  device.spec.link = {.bytes_per_second = 1e9, .latency_s = 1e-5};
  return {host, device};
}

}  // namespace

TEST_CASE("on two cores a host lane and an emulated device get one thread each") {
  const auto specs = resolve_lanes(host_and_any_device(), {.cores = 2, .devices = 0});

  CHECK(specs[0].threads == 1);
  CHECK(specs[1].kind == lane::Kind::emulated);
  CHECK(specs[1].threads == 1);
  CHECK(specs[1].slowdown == 4.0);
}

TEST_CASE("a host lane without a number of threads keeps to a quota of processor time") {
  const LaneRequest host{.spec = {.name = "host"}};
  const auto threads = [&](double quota) {
    return resolve_lanes({host}, this_machine({.cores = quota}))[0].threads;
  };

  CHECK(threads(GroupLimits().cores) == std::ssize(usable_cores()));
  CHECK(threads(1.5) == 1);
  CHECK(threads(0.2) == 1);
}

TEST_CASE("the host lane gets the cores that emulated lanes leave, at least one") {
  CHECK(resolve_lanes(host_and_any_device(), {.cores = 16, .devices = 0})[0].threads == 15);
  CHECK(resolve_lanes(host_and_any_device(), {.cores = 1, .devices = 0})[0].threads == 1);
}

TEST_CASE("any device is a GPU where there is one, with its own link and speed") {
  const auto specs = resolve_lanes(host_and_any_device(), {.cores = 8, .devices = 1});

  CHECK(specs[1].kind == lane::Kind::device);
  CHECK(specs[1].slowdown == 1.0);
  CHECK(specs[1].link.bytes_per_second == 0.0);
}

TEST_CASE("memory of the host lane is page-locked where a GPU copies from it") {
  CHECK(resolve_lanes(host_and_any_device(), {.cores = 8, .devices = 1})[0].pinned);
  CHECK_FALSE(resolve_lanes(host_and_any_device(), {.cores = 8, .devices = 1})[1].pinned);
  CHECK_FALSE(resolve_lanes(host_and_any_device(), {.cores = 8, .devices = 0})[0].pinned);
}

TEST_CASE("the host lane leaves a core to the thread that launches a GPU's kernels") {
  const Machine eight{.cores = 8, .devices = 1, .core_numbers = {0, 1, 2, 3, 4, 5, 6, 7}};
  const auto specs = resolve_lanes(host_and_any_device(), eight);

  CHECK(specs[0].threads == 7);
  CHECK(specs[0].cores == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(specs[1].cores == std::vector<int>{7});
  CHECK(resolve_lanes(host_and_any_device(), {.cores = 1, .devices = 1})[0].threads == 1);
}

TEST_CASE("a second lane that may be any device does not share the first one's GPU") {
  auto requests = host_and_any_device();
  requests.push_back(requests[1]);
  requests[2].spec.name = "second";

  const auto specs = resolve_lanes(requests, {.cores = 8, .devices = 1});
  CHECK(specs[1].kind == lane::Kind::device);
  CHECK(specs[2].kind == lane::Kind::emulated);
  CHECK(specs[2].slowdown == 4.0);

  requests[2].spec.device_id = 1;
  CHECK(resolve_lanes(requests, {.cores = 8, .devices = 2})[2].kind == lane::Kind::device);
}

TEST_CASE("threads that are asked for are given") {
  auto requests = host_and_any_device();
  requests[0].threads = 5;
  requests[1].threads = 3;

  const auto specs = resolve_lanes(requests, {.cores = 2, .devices = 0});

  CHECK(specs[0].threads == 5);
  CHECK(specs[1].threads == 3);
}

TEST_CASE("a Serial lane has one thread whatever is asked") {
  auto requests = host_and_any_device();
  requests[1].spec.space = lane::HostSpace::serial;
  requests[1].threads = 3;

  CHECK(resolve_lanes(requests, {.cores = 4, .devices = 0})[1].threads == 1);
}

TEST_CASE("lanes that fill the machine get cores of their own") {
  using Cores = std::vector<int>;
  const Machine four{.cores = 4, .devices = 0, .core_numbers = {2, 3, 6, 7}};
  const auto filling = resolve_lanes(host_and_any_device(), four);

  CHECK(filling[0].cores == Cores{2, 3, 6});
  CHECK(filling[1].cores == Cores{7});

  // With cores to spare, or too few, the system knows better.
  auto requests = host_and_any_device();
  requests[0].threads = 2;
  CHECK(resolve_lanes(requests, four)[0].cores.empty());
  requests[0].threads = 4;
  CHECK(resolve_lanes(requests, four)[0].cores.empty());
  // Neither does a lane alone need to be told.
  requests.resize(1);
  CHECK(resolve_lanes(requests, four)[0].cores.empty());
}

}  // namespace zygos::app::test_lane_choice
