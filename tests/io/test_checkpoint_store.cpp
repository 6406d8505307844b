// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint/checkpoint_image.hpp"
#include "io/checkpoint/checkpoint_manifest.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/hash.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/stat.h>

#include <algorithm>

namespace zygos::test_checkpoint_store {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<std::int64_t> steps_in(const fs::path& directory) {
  std::vector<std::int64_t> steps;
  for (const io::CheckpointSummary& summary : io::CheckpointStore(directory, 1).list()) {
    steps.push_back(summary.step);
  }
  return steps;
}

}  // namespace

TEST_CASE("tensors of every type and shape come back with their bytes", "[io]") {
  const Scratch scratch;
  Samples samples;
  std::uint64_t seed = 1;
  for (const DType dtype :
       {DType::u8, DType::i32, DType::i64, DType::u32, DType::u64, DType::f32, DType::f64}) {
    const std::string group = "all/" + std::string(name_of(dtype));
    samples.add(group + "/scalar", dtype, Shape{}, seed++);
    samples.add(group + "/vector", dtype, {7}, seed++);
    samples.add(group + "/deep", dtype, {2, 1, 3, 1, 2, 5}, seed++);
    samples.add(group + "/none", dtype, {0}, seed++);
    samples.add(group + "/none of many", dtype, {4, 0, 3}, seed++);
  }
  samples.add("top", DType::f32, {1}, seed++);
  samples.add("\xce\xb6\xcf\x85\xce\xb3\xcf\x8c\xcf\x82/\"x\"", DType::f32, {2}, seed++);
  io::CheckpointStore store(scratch.path(), 1);

  const fs::path written = store.write(12, samples.refs(), {});
  const io::Checkpoint read = io::CheckpointStore::load(written);

  CHECK(written == scratch / "step-000012");
  CHECK(read.step == 12);
  CHECK(samples.equal(read));
}

TEST_CASE("facts come back letter by letter", "[io]") {
  const Scratch scratch;
  const io::Facts facts{{"", ""},
                        {"deck", "a: \"b\"\n\t\\ \x01 \xc3\xa9\n"},
                        {"zero", std::string("a\0b", 3)},
                        {"long", std::string(300000, 'x')}};
  io::CheckpointStore store(scratch.path(), 1);

  const fs::path written = store.write(0, {}, facts);

  CHECK(io::CheckpointStore::load(written).facts == facts);
  CHECK(io::CheckpointStore::load(written).tensors.empty());
}

TEST_CASE("an absent tensor or fact is named", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);

  const io::Checkpoint read = io::CheckpointStore::load(write_small(store, 1));

  CHECK_THROWS_MATCHES(read.tensor("weights/fc2"), CheckpointError,
                       MessageMatches(ContainsSubstring("'weights/fc2'")));
  CHECK_THROWS_MATCHES(read.fact("lr"), CheckpointError, MessageMatches(ContainsSubstring("'lr'")));
  CHECK(read.fact("cursor") == "100");
}

TEST_CASE("names that could leave the file or clash in it are refused before writing", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch / "none", 1);
  const std::string name = GENERATE(std::string(""), "/a", "a/", "a//b", "..", "a/../b", ".", "./a",
                                    "a\nb", std::string("a\0b", 3), std::string(1025, 'x'), "\xff");
  Samples samples;
  samples.add(name, DType::f32, {2}, 1);

  CHECK_THROWS_AS(store.write(1, samples.refs(), {}), UsageError);

  CHECK_FALSE(fs::exists(scratch / "none"));
}

TEST_CASE("two tensors can't share a name, nor a tensor and a group", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch / "none", 1);
  const std::string other = GENERATE("a/b", "a/b/c", "a");
  Samples samples;
  samples.add("a/b", DType::f32, {2}, 1);
  samples.add(other, DType::f32, {2}, 1);

  CHECK_THROWS_AS(store.write(1, samples.refs(), {}), UsageError);

  CHECK_FALSE(fs::exists(scratch / "none"));
}

TEST_CASE("a store asks for at least one checkpoint to keep and a step of 0 or more", "[io]") {
  const Scratch scratch;

  CHECK_THROWS_AS(io::CheckpointStore(scratch.path(), 0), UsageError);
  CHECK_THROWS_AS(io::CheckpointStore(scratch.path(), 1).write(-1, {}, {}), UsageError);
}

TEST_CASE("a write keeps the last k checkpoints and nothing else", "[io]") {
  const Scratch scratch;
  const int keep = GENERATE(1, 2, 5);
  io::CheckpointStore store(scratch / "deep/below", keep);

  for (std::int64_t step = 10; step <= 80; step += 10) {
    write_small(store, step);
  }

  std::vector<std::int64_t> expected;
  for (int i = 0; i < keep; ++i) {
    expected.push_back(80 - 10 * i);
  }
  CHECK(steps_in(scratch / "deep/below") == expected);
  CHECK(entries(scratch / "deep/below").size() == static_cast<std::size_t>(keep));
}

TEST_CASE("a damaged checkpoint does not count as one to keep", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 1);
  overwrite_file(write_small(store, 2) / "manifest.json", "{}");

  write_small(store, 3);

  CHECK(steps_in(scratch.path()) == std::vector<std::int64_t>{3, 2, 1});
  CHECK(small_samples(1).equal(io::CheckpointStore::load(scratch / "step-000001")));
}

TEST_CASE("a run that went back past a damaged checkpoint keeps what it writes", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);
  overwrite_file(write_small(store, 30) / "state.h5", "no");

  write_small(store, 20);

  CHECK(store.load_newest()->step == 20);
  CHECK(steps_in(scratch.path()) == std::vector<std::int64_t>{30, 20});
  write_small(store, 30);
  CHECK(small_samples(30).equal(*store.load_newest()));
  CHECK(steps_in(scratch.path()) == std::vector<std::int64_t>{30});
}

TEST_CASE("steps are ordered as numbers, with more than six digits too", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);

  for (const std::int64_t step :
       {std::int64_t{999999}, std::int64_t{1000000}, std::int64_t{9007199254740993}}) {
    write_small(store, step);
  }

  CHECK(store.load_newest()->step == 9007199254740993);
  CHECK(store.list()[1].path.filename() == "step-1000000");
}

TEST_CASE("the same step with the same contents is left as it lies", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  const fs::path written = write_small(store, 4);
  struct stat before {};
  REQUIRE(::stat((written / "state.h5").c_str(), &before) == 0);

  write_small(store, 4);

  struct stat after {};
  REQUIRE(::stat((written / "state.h5").c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
}

TEST_CASE("the same step with other contents is replaced", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 4);
  const Samples others = small_samples(5);

  store.write(4, others.refs(), {});

  CHECK(others.equal(*store.load_newest()));
  CHECK(entries(scratch.path()).size() == 1);
}

TEST_CASE("no checkpoints are no error", "[io]") {
  const Scratch scratch;

  CHECK_FALSE(io::CheckpointStore(scratch.path(), 1).load_newest().has_value());
  CHECK_FALSE(io::CheckpointStore(scratch / "none", 1).load_newest().has_value());
  CHECK(io::CheckpointStore(scratch / "none", 1).list().empty());
}

TEST_CASE("folders of other names are neither read nor removed", "[io]") {
  const Scratch scratch;
  for (const char* name : {"step-12", "step-0000012", "step-", "step-00001x", "notes", ".git",
                           "step-000001.bak", "step--00001"}) {
    fs::create_directories(scratch / name);
  }
  overwrite_file(scratch / "step-000009", "a file");
  io::CheckpointStore store(scratch.path(), 1);

  write_small(store, 1);

  CHECK(steps_in(scratch.path()) == std::vector<std::int64_t>{1});
  CHECK(entries(scratch.path()).size() == 10);
}

TEST_CASE("files are not for everybody to read", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);
  const mode_t before = ::umask(0022);

  const fs::path written = write_small(store, 1);

  ::umask(before);
  for (const fs::path& file : entries(written)) {
    CHECK(fs::status(file).permissions() == fs::perms{0640});
  }
  CHECK(fs::status(written).permissions() == fs::perms{0750});
}

TEST_CASE("a checkpoint is found through a link and with a slash behind it", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);
  const fs::path written = write_small(store, 7);
  fs::create_directory_symlink(written, scratch / "best");

  CHECK(io::CheckpointStore::load(scratch / "best").step == 7);
  CHECK(io::CheckpointStore::load(written / "").step == 7);
}

TEST_CASE("tensors may lie in several files of a checkpoint", "[io]") {
  const Scratch scratch;
  const fs::path folder = scratch / "step-000003";
  fs::create_directory(folder);
  const Samples samples = small_samples(3);
  io::Manifest manifest;
  manifest.step = 3;
  for (std::size_t i = 0; i < samples.refs().size(); ++i) {
    const io::TensorRef& ref = samples.refs()[i];
    const io::Image image = io::build_image(3, std::span(&ref, 1));
    const std::string file = "acts-" + std::to_string(i) + ".h5";
    overwrite_file(folder / file,
                   {reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size()});
    manifest.files.push_back({file, image.bytes().size(), io::sha256_hex(image.bytes())});
    manifest.tensors.push_back(
        {ref.name, ref.dtype, ref.shape, file, io::xxh3_64_hex(samples.bytes(i))});
  }
  const std::string text = io::manifest_text(manifest);
  const auto sum = io::sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
  overwrite_file(folder / "manifest.json", text);
  overwrite_file(folder / "SHA256SUMS", io::sums_text(manifest, sum));

  CHECK(samples.equal(io::CheckpointStore::load(folder)));
  fs::rename(folder / "acts-0.h5", scratch / "aside");
  fs::rename(folder / "acts-1.h5", folder / "acts-0.h5");
  fs::rename(scratch / "aside", folder / "acts-1.h5");
  CHECK_THROWS_AS(io::CheckpointStore::load(folder), CheckpointError);
}

}  // namespace zygos::test_checkpoint_store
