// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs with `device_graphs`, on lanes that do as a device would.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <vector>

namespace zygos::test::test_device_graph_runs {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A run with graphs says which lanes have them, and has the bits of one without") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const Outcome checked = zygos_run({"check", "tiny.yaml", "device_graphs=true"}, scratch.path());
  const Outcome without = zygos_run({"check", "tiny.yaml"}, scratch.path());

  REQUIRE(checked.code == 0);
  CHECK_THAT(checked.err + checked.out,
             ContainsSubstring("steps captured on device; none on host"));
  CHECK_THAT(without.err + without.out, !ContainsSubstring("device_graphs)"));

  const auto graphs =
      train_unmeasured(scratch.path(), {"device_graphs=true", "--run-dir", "graphs"});
  const auto plain = train_unmeasured(scratch.path(), {"--run-dir", "plain"});
  CHECK(graphs["weights_xxh64"] == plain["weights_xxh64"]);
  CHECK(graphs["graph_lanes"] == std::vector<std::string>{"device"});
  CHECK(graphs["recorded_tasks"] > 0);
  CHECK_FALSE(plain.contains("graph_lanes"));
  CHECK_FALSE(plain.contains("recorded_tasks"));
}

}  // namespace zygos::test::test_device_graph_runs
