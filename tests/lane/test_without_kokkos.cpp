// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/lane/lane_set.hpp"
#include "zygos/lane/spaces.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_without_kokkos {
TEST_CASE(
    "a lane in a program that did not initialise Kokkos is refused, not initialised behind its "
    "back",
    "[lane]") {
  using namespace zygos::lane;

  CHECK_THROWS_AS(Lane({.name = "host"}), zygos::UsageError);
  CHECK_THROWS_WITH(LaneSet({{.name = "host"}}),
                    Catch::Matchers::ContainsSubstring("Kokkos::initialize"));
  CHECK_FALSE(Kokkos::is_initialized());
}

}  // namespace zygos::test_without_kokkos
