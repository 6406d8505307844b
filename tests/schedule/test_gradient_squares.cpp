// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/gradient_squares.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::schedule::test_gradient_squares {
namespace {

TEST_CASE("A norm is summed by node, so that stages change no bit of it") {
  Schedule schedule = test::clipped_gpipe(3, 2);
  using Ranges = std::vector<ElementRange>;
  CHECK(square_sums(schedule) == Ranges{{0, 10}, {10, 20}, {20, 30}, {30, 40}, {40, 50}, {50, 60}});
  const TasksByPlace tasks(schedule);
  CHECK(sums_of(tasks, 0) == SumRange{0, 2});
  CHECK(sums_of(tasks, 1) == SumRange{2, 4});
  CHECK(sums_of(tasks, 2) == SumRange{4, 6});
  schedule.parameters[2].end = 20;  // a node without parameters
  CHECK(square_sums(schedule).size() == 5);
  CHECK(square_sums(test::clipped_gpipe(2, 2)) == Ranges{{0, 10}, {10, 20}, {20, 30}, {30, 40}});
}

TEST_CASE("Where parts have owners a norm is summed by owner, then by part") {
  Schedule schedule = test::shards(true);
  schedule.parts = {{0, 5}, {5, 12}, {12, 20}};
  schedule.part_owners = {1, 0, 1};
  CHECK(square_sums(schedule) == std::vector<ElementRange>{{5, 12}, {0, 5}, {12, 20}});
}

TEST_CASE("A place that measures nothing has no sums") {
  CHECK(sums_of(TasksByPlace(test::gpipe(3, 2, false)), 1).count() == 0);
}

}  // namespace
}  // namespace zygos::schedule::test_gradient_squares
