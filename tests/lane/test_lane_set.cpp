// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/lane/await_change.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/lane/spaces.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_lane_set {
using Catch::Matchers::ContainsSubstring;
using namespace zygos::lane;

TEST_CASE("lanes keep the order they were given in and are found by name", "[lane]") {
  LaneSet lanes({{.name = "device", .kind = Kind::emulated},
                 {.name = "host"},
                 {.name = "second", .kind = Kind::emulated, .space = HostSpace::serial}});

  CHECK(lanes.size() == 3);
  CHECK(lanes[0].name() == "device");
  CHECK(lanes.index_of("host") == 1);
  CHECK(lanes.index_of("second") == 2);
}

TEST_CASE("an unknown lane is refused with the names there are", "[lane]") {
  LaneSet lanes({{.name = "host"}, {.name = "device", .kind = Kind::emulated}});

  CHECK_THROWS_AS(lanes.index_of("gpu"), zygos::UsageError);
  CHECK_THROWS_WITH(lanes.index_of("gpu"),
                    ContainsSubstring("'gpu'") && ContainsSubstring("'host', 'device'"));
}

TEST_CASE("a set without lanes, with equal names or with two hosts is refused", "[lane]") {
  CHECK_THROWS_WITH(LaneSet(std::vector<LaneSpec>{}), ContainsSubstring("at least one lane"));
  CHECK_THROWS_WITH(LaneSet({{.name = "a"}, {.name = "a", .kind = Kind::emulated}}),
                    ContainsSubstring("two lanes are called 'a'"));
  CHECK_THROWS_WITH(LaneSet({{.name = "a"}, {.name = "b"}}),
                    ContainsSubstring("'a' and 'b'") && ContainsSubstring("'emulated'"));
}

TEST_CASE("a set takes lanes around instances of its caller, under the same rules", "[lane]") {
  const Kokkos::Serial mine;
  LaneSet lanes;

  lanes.adopt({.name = "host"}, Execution(mine));
  lanes.adopt({.name = "device", .kind = Kind::emulated}, Execution(Kokkos::OpenMP()));

  CHECK(lanes.size() == 2);
  CHECK(lanes[0].spec().space == HostSpace::serial);
  CHECK(std::get<Kokkos::Serial>(lanes[0].execution()) == mine);
  CHECK_THROWS_AS(lanes.adopt({.name = "host"}, Execution(mine)), zygos::UsageError);
  CHECK_THROWS_AS(lanes.adopt({.name = "other"}, Execution(mine)), zygos::UsageError);
}

TEST_CASE(
    "lanes that compute on all cores move their messages themselves, others have threads for it",
    "[lane]") {
  LaneSet lanes({{.name = "host", .threads = 2}, {.name = "device", .kind = Kind::emulated}});
  lanes.add_remote({.name = "elsewhere", .kind = Kind::emulated, .threads = 8});

  CHECK(lanes.threads() == 3);
  for (const std::size_t place : {0U, 1U}) {
    CHECK_FALSE(lanes.one_driver(place, 4));
    CHECK(lanes.one_driver(place, 3));
    CHECK(lanes.one_driver(place, 1));
  }
  CHECK_FALSE(lanes.one_driver(2, 1));
  CHECK(process_cores() >= 1);
}

TEST_CASE("lanes spin for long only where no other thread wants their cores", "[lane]") {
  LaneSet lanes({{.name = "host", .threads = 2}, {.name = "device", .kind = Kind::emulated}});

  CHECK(lanes.spin_timeout(3) == own_core_spin_timeout);
  CHECK(lanes.spin_timeout(2) == computing_spin_timeout);  // three threads on two cores
  CHECK(lanes.spin_timeout(4) == computing_spin_timeout);  // messages have threads of their own
  lanes.add_remote({.name = "elsewhere", .kind = Kind::emulated});
  CHECK_FALSE(lanes.cores_of_their_own(3));
}

TEST_CASE("the machine is described without a lane", "[lane]") {
  CHECK(device_count() >= 0);
  CHECK((device_space_name() == "none") == (std::variant_size_v<Spaces> == 2));
}

}  // namespace zygos::test_lane_set
