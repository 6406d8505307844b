// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that earlier versions of the format wrote are read for ever.
// tests/reference/checkpoints has a run's folder of every version, written by a program of that
// time; a version is added by a run of the last program before it:
//
//   deck: seed 5, 96 glyphs, dense 2 (tanh), dense 10, adam, one lane, 6 steps of 32 samples
#include "io/checkpoint/checkpoint_manifest.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/hash.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <map>

namespace zygos::test_golden_checkpoints {
using namespace zygos::test;

namespace {

const fs::path& golden() {
  static const fs::path folder = "tests/reference/checkpoints";
  return folder;
}

fs::path folder_of(int version) {
  return golden() / ("version-" + std::to_string(version)) / "checkpoints";
}

struct Expected {
  Shape shape;
  std::string xxh64;
};

}  // namespace

TEST_CASE("there is a golden checkpoint of every version of the format", "[io]") {
  for (int version = 1; version <= io::checkpoint_format_version; ++version) {
    CAPTURE(version);
    CHECK(fs::is_directory(folder_of(version)));
  }
  CHECK(entries(golden()).size() == io::checkpoint_format_version);
}

TEST_CASE("checkpoints of version 1 are read with every tensor and fact", "[io]") {
  const auto read = io::CheckpointStore(folder_of(1), 1).load_newest();
  REQUIRE(read);
  CHECK(read->step == 6);
  CHECK(read->fact("epoch") == "2");
  CHECK(read->fact("seed") == "5");
  CHECK(read->fact("batch") == "32");
  CHECK(read->fact("samples_per_epoch") == "96");
  CHECK(read->fact("policy") == "single");
  CHECK(read->fact("split") == "[32]");
  CHECK(read->fact("deck").find("units: 2") != std::string::npos);
  const std::map<std::string, Expected> expected{
      {"weights/fc1/kernel", {Shape{784, 2}, "262ce5711257ef95"}},
      {"weights/fc1/bias", {Shape{2}, "696422274d8b6dad"}},
      {"weights/out/kernel", {Shape{2, 10}, "31c23807b85d0bd6"}},
      {"weights/out/bias", {Shape{10}, "77a89676a49a2a77"}},
      {"first_moment/fc1/kernel", {Shape{784, 2}, "f254c5f18bf26688"}},
      {"first_moment/fc1/bias", {Shape{2}, "c385ad2e67f3f429"}},
      {"first_moment/out/kernel", {Shape{2, 10}, "8095497c60fcfd23"}},
      {"first_moment/out/bias", {Shape{10}, "3f47a1cc3813932f"}},
      {"second_moment/fc1/kernel", {Shape{784, 2}, "86c92f57980e2e7f"}},
      {"second_moment/fc1/bias", {Shape{2}, "db031f5ee3de54d7"}},
      {"second_moment/out/kernel", {Shape{2, 10}, "b5b52e5fb5adbbd6"}},
      {"second_moment/out/bias", {Shape{10}, "360a777aea0a5766"}},
  };
  CHECK(read->tensors.size() == expected.size());
  for (const auto& [name, tensor] : expected) {
    CAPTURE(name);
    const io::StoredTensor& found = read->tensor(name);
    CHECK(found.dtype == DType::f32);
    CHECK(found.shape == tensor.shape);
    CHECK(io::xxh64_hex(found.bytes) == tensor.xxh64);
  }
}

}  // namespace zygos::test_golden_checkpoints
