// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/sample_schedules.hpp"

#include "zygos/schedule/schedule.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::schedule {
namespace {

TEST_CASE("Sound schedules have no findings") {
  for (const test::Sample& sample : test::all_samples()) {
    CAPTURE(sample.name);
    CHECK(validate(sample.schedule) == std::vector<std::string>{});
    CHECK(validate(sample.schedule.for_evaluation()) == std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace zygos::schedule
