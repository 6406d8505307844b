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

TEST_CASE("Check, simulate and a run count the numbers in which recorded steps differ alike") {
  const Scratch scratch;
  write_tiny_deck(scratch.path());
  const auto words = [](std::vector<std::string> command, const std::string& graphs) {
    command.insert(command.end(), {"lanes={device: {kind: emulated}}", "policy={type: single}",
                                   "device_graphs=" + graphs});
    return command;
  };
  const auto memory = [&](const std::string& graphs) {
    return json_of(words({"check", "tiny.yaml", "--json"}, graphs), scratch.path())["peak_bytes"];
  };
  const auto total = [](const nlohmann::json& bytes) {
    return bytes["device"]["total"].get<std::size_t>() +
           bytes["device/staging"]["total"].get<std::size_t>();
  };

  const auto with = memory("true");
  const auto trained = train_unmeasured(scratch.path(), words({}, "true"))["planned_bytes"];
  const auto simulated =
      json_of(words({"simulate", "tiny.yaml", "--workers", "1", "--json"}, "true"), scratch.path());

  CHECK(with["device"] == trained["device"]);
  CHECK(with["device/staging"] == trained["device/staging"]);
  CHECK(simulated["rows"][0]["policy"] == "single");
  CHECK(simulated["rows"][0]["peak_bytes"] == total(with));
  CHECK(total(memory("false")) < total(with));
}

}  // namespace zygos::test::test_device_graph_runs
