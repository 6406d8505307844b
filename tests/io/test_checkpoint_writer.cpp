// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints that are written beside the thread that asks for them.
#include "io/hdf5/hdf5_handles.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/io/checkpoint_writer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace zygos::test_checkpoint_writer {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("a checkpoint holds what the tensors were at its start, whatever becomes of them",
          "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);
  io::CheckpointWriter writer(store);
  std::vector<float> values(std::size_t{1} << 22, 1.5F);
  const io::TensorRef ref{"weights/fc1/kernel", DType::f32, Shape{1 << 22}, values.data()};

  writer.start(7, std::span(&ref, 1), {{"epoch", "2"}});
  std::ranges::fill(values, -3.0F);
  const auto committed = writer.wait();

  REQUIRE(committed);
  CHECK(committed->step == 7);
  CHECK(committed->seconds > 0.0);
  const io::Checkpoint read = io::CheckpointStore::load(committed->path);
  const auto& bytes = read.tensor("weights/fc1/kernel").bytes;
  const std::vector<float> before(values.size(), 1.5F);
  CHECK(std::memcmp(bytes.data(), before.data(), bytes.size()) == 0);
  CHECK(read.fact("epoch") == "2");
  CHECK_FALSE(writer.take());
}

TEST_CASE("a writer gives the bytes of a store, and takes no more memory for the next one",
          "[io]") {
  const Scratch scratch;
  io::CheckpointStore by_store(scratch / "store", 9);
  io::CheckpointStore by_writer(scratch / "writer", 9);
  io::CheckpointWriter writer(by_writer);
  writer.reserve(small_samples(1).refs(), small_facts(1));
  const std::size_t reserved = writer.bytes();

  for (const std::int64_t step : {1, 2, 3}) {
    const fs::path expected = write_small(by_store, step);
    writer.start(step, small_samples(step).refs(), small_facts(step));
    const fs::path found = writer.wait()->path;
    for (const char* name : {"state.h5", "manifest.json", "SHA256SUMS"}) {
      CAPTURE(step, name);
      CHECK(read_file(found / name) == read_file(expected / name));
    }
  }
  CHECK(writer.bytes() == reserved);
}

TEST_CASE("while a checkpoint is in flight there is none of its name, and no other one starts",
          "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);
  io::CheckpointWriter writer(store);
  Samples big;
  big.add("weights/big", DType::u8, {std::int64_t{64} << 20}, 3);
  writer.start(1, big.refs(), {});
  {
    const io::hdf5::Session held;  // the writer can't verify what it wrote
    CHECK(writer.busy());
    CHECK_FALSE(writer.take());
    CHECK_FALSE(fs::exists(scratch / "step-000001"));
    CHECK_THROWS_AS(writer.start(2, big.refs(), {}), UsageError);
  }
  CHECK(writer.wait()->step == 1);
  CHECK_FALSE(writer.busy());
  CHECK(big.equal(*store.load_newest()));
}

TEST_CASE("a checkpoint in flight is complete when its writer is gone", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);
  {
    io::CheckpointWriter writer(store);
    writer.start(4, small_samples(4).refs(), {});
  }
  CHECK(small_samples(4).equal(*store.load_newest()));
}

TEST_CASE("a write that failed is told once, and the next one may succeed", "[io]") {
  const Scratch scratch;
  const fs::path folder = scratch / "checkpoints";
  overwrite_file(folder, "a file");
  io::CheckpointStore store(folder, 3);
  io::CheckpointWriter writer(store);

  writer.start(1, small_samples(1).refs(), {});
  CHECK_THROWS_MATCHES(writer.wait(), IoError,
                       MessageMatches(ContainsSubstring("Not a directory")));
  fs::remove(folder);
  writer.start(2, small_samples(2).refs(), {});

  CHECK(writer.wait()->step == 2);
  CHECK(small_samples(2).equal(*store.load_newest()));
}

TEST_CASE("what can't be saved is refused before anything is written", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch / "none", 3);
  io::CheckpointWriter writer(store);
  CHECK_THROWS_AS(writer.start(-1, small_samples(1).refs(), {}), UsageError);
  CHECK_THROWS_AS(writer.start(1, small_samples(1).refs(), {{"note", "\xff"}}), UsageError);
  CHECK_FALSE(writer.wait());
  CHECK_FALSE(fs::exists(scratch / "none"));
}

namespace {

std::vector<std::int64_t> kept_of(const fs::path& directory, io::Keep keep,
                                  const std::vector<std::string>& merits) {
  io::CheckpointStore store(directory, keep);
  for (std::size_t i = 0; i < merits.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    io::Facts facts;
    if (!merits[i].empty()) {
      facts["merit"] = merits[i];
    }
    store.write(step, small_samples(step).refs(), facts);
  }
  std::vector<std::int64_t> steps;
  std::ranges::transform(store.list(), std::back_inserter(steps), &io::CheckpointSummary::step);
  return steps;
}

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("the best checkpoints stay beside the newest ones", "[io]") {
  const Scratch scratch;
  const std::vector<std::string> merits{"-0.5", "0.9", "", "0.7", "0.9", "nan", "0.2", "0.1"};

  CHECK(kept_of(scratch / "none", {.newest = 2, .best = 0}, merits) == Steps{7, 6});
  CHECK(kept_of(scratch / "one", {.newest = 2, .best = 1}, merits) == Steps{7, 6, 4});
  CHECK(kept_of(scratch / "three", {.newest = 1, .best = 3}, merits) == Steps{7, 4, 3, 1});
  CHECK(kept_of(scratch / "all", {.newest = 1, .best = 9}, merits) == Steps{7, 6, 4, 3, 1, 0});
  CHECK(io::CheckpointStore(scratch / "three", 1).load_best().step == 4);
  CHECK_THROWS_AS(io::CheckpointStore(scratch.path(), io::Keep{.newest = 1, .best = -1}),
                  UsageError);
}

TEST_CASE("a damaged best checkpoint gives way to the next best", "[io]") {
  const Scratch scratch;
  kept_of(scratch.path(), {.newest = 1, .best = 3}, {"0.1", "0.3", "0.2", ""});
  const io::CheckpointStore store(scratch.path(), 1);
  std::string bytes = read_file(scratch / "step-000001/state.h5");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  overwrite_file(scratch / "step-000001/state.h5", bytes);

  CHECK(store.load_best().step == 2);
  CHECK_THROWS_MATCHES(io::CheckpointStore(scratch / "none", 1).load_best(), CheckpointError,
                       MessageMatches(ContainsSubstring("keep_best")));
}

}  // namespace zygos::test_checkpoint_writer
