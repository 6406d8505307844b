// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_error {
using Catch::Matchers::ContainsSubstring;
using zygos::ExitCode;

TEST_CASE("every exception carries the exit code of its meaning", "[core]") {
  CHECK(zygos::InternalError("").code() == ExitCode::bug);
  CHECK(zygos::UsageError("").code() == ExitCode::usage);
  CHECK(zygos::DataError("").code() == ExitCode::data);
  CHECK(zygos::CheckpointError("").code() == ExitCode::checkpoint);
  CHECK(zygos::IoError("").code() == ExitCode::io);
  CHECK(zygos::MemoryError("").code() == ExitCode::memory);
  CHECK(zygos::NumericError("").code() == ExitCode::numeric);
  CHECK(static_cast<int>(ExitCode::stopped) == 75);
}

TEST_CASE("a lane error names lane, task and cause and keeps the cause's exit code", "[core]") {
  const zygos::LaneError error(ExitCode::numeric, "device", "backward", "loss is NaN");

  CHECK(error.code() == ExitCode::numeric);
  CHECK(error.lane() == "device");
  CHECK(error.task() == "backward");
  CHECK(std::string(error.what()) == "lane 'device', task 'backward': loss is NaN");
}

TEST_CASE("a peer error names the rank that noticed and the one it waited for", "[core]") {
  const zygos::PeerError error(2, 5, "receive from rank 5: nothing came");

  CHECK(error.code() == ExitCode::peer);
  CHECK(error.rank() == 2);
  CHECK(error.peer() == 5);
  CHECK(std::string(error.what()) == "rank 2: receive from rank 5: nothing came");
}

TEST_CASE("a requirement that does not hold says what, where and why", "[core]") {
  const auto demand = [](int found) { ZYGOS_REQUIRE(found == 3, "found is not three"); };

  CHECK_NOTHROW(demand(3));
  CHECK_THROWS_AS(demand(4), zygos::InternalError);
  CHECK_THROWS_WITH(demand(4), ContainsSubstring("found is not three") &&
                                   ContainsSubstring("found == 3") && ContainsSubstring("[") &&
                                   ContainsSubstring("test_error.cpp:"));
}

TEST_CASE("a requirement's message does not depend on where the sources lie", "[core]") {
  CHECK_THROWS_WITH([] { ZYGOS_REQUIRE(false, "no"); }(), !ContainsSubstring("/"));
}

}  // namespace zygos::test_error
