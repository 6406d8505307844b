// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that an earlier Zygos began: their folders (tests/reference/checkpoints) are inspected,
// evaluated and continued.
#include "tiny_run.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::test::test_old_checkpoints {

namespace fs = std::filesystem;

TEST_CASE("a run that an earlier version of the format began is evaluated and goes on") {
  for (const auto& entry :
       fs::directory_iterator(source_folder() / "tests/reference/checkpoints")) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Scratch scratch;
    fs::copy(entry.path(), scratch.path() / name, fs::copy_options::recursive);

    const nlohmann::json inspected = json_of({"inspect", name, "--json"}, scratch.path());
    CHECK(inspected["step"] == 6);
    CHECK(inspected["verified"] == true);
    CHECK(json_of({"eval", name, "--json"}, scratch.path())["test_loss"] > 0.0);
    const nlohmann::json end = json_of({"resume", name, "train.steps=9", "--json"}, scratch.path());
    CHECK(end["steps"] == 9);
    CHECK(end["finished"] == true);
    CHECK(end["checkpoints"]["committed"] == 1);
  }
}

}  // namespace zygos::test::test_old_checkpoints
