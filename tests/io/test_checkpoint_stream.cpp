// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of tensors that are read piece by piece: the files of those that are in memory at
// once, and what is left of a write that ends early.
#include "support/checkpoint_samples.hpp"

#include "zygos/io/checkpoint_writer.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace zygos::test_checkpoint_stream {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Gives samples piece by piece, and counts what was asked for.
class CountingSource final : public io::TensorSource {
 public:
  explicit CountingSource(const Samples& samples) : samples_(samples), refs_(samples.refs()) {
    for (io::TensorRef& ref : refs_) {
      ref.data = nullptr;
    }
  }
  std::span<const io::TensorRef> tensors() const override { return refs_; }
  void read(std::size_t tensor, std::size_t begin, std::span<std::byte> out) override {
    ++reads;
    bytes += out.size();
    largest = std::max(largest, out.size());
    const std::size_t unit = size_of(refs_[tensor].dtype);
    whole_elements = whole_elements && begin % unit == 0 && out.size() % unit == 0;
    if (before_read) {
      before_read(reads);
    }
    const auto& all = samples_.bytes(tensor);
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
  }

  std::size_t reads = 0;
  std::size_t bytes = 0;
  std::size_t largest = 0;
  bool whole_elements = true;
  std::function<void(std::size_t reads)> before_read;

 private:
  const Samples& samples_;
  std::vector<io::TensorRef> refs_;
};

/// Layers around the sizes at which HDF5 puts data elsewhere, empty ones and single elements.
Samples many_samples(std::uint64_t seed) {
  Samples samples;
  const std::vector<Shape> shapes{Shape{}, {0},   {1},      {7},      {100, 3},
                                  {511},   {513}, {90, 70}, {2, 3, 5}};
  std::uint64_t number = 0;
  for (const char* buffer : {"weights", "first_moment", "second_moment"}) {
    for (std::size_t i = 0; i < 6 * shapes.size(); ++i) {
      const DType dtype = i % 4 == 3 ? DType::u8 : (i % 2 == 0 ? DType::f32 : DType::f64);
      samples.add(
          std::string(buffer) + "/layer" + std::to_string(i / 2) + "/p" + std::to_string(i % 2),
          dtype, shapes[i % shapes.size()], seed + ++number);
    }
  }
  return samples;
}

std::size_t bytes_in(const Samples& samples) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < samples.refs().size(); ++i) {
    bytes += samples.bytes(i).size();
  }
  return bytes;
}

void check_same_files(const fs::path& found, const fs::path& expected) {
  for (const char* name : {"state.h5", "manifest.json", "SHA256SUMS"}) {
    CAPTURE(name);
    CHECK(read_file(found / name) == read_file(expected / name));
  }
}

/// Runs `f` in a child process; true if that was killed.
bool is_killed(const std::function<void()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      f();
    } catch (...) {
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("a streamed checkpoint has the bytes of a whole one, however small the pieces", "[io]") {
  const Scratch scratch(quick_directory());
  for (const std::uint64_t seed : {1UL, 1000UL}) {
    const Samples samples = seed == 1 ? small_samples(5) : many_samples(seed);
    const std::string name = std::to_string(seed);
    io::CheckpointStore whole(scratch / ("whole" + name), 1);
    const fs::path expected = whole.write(12, samples.refs(), small_facts(12));
    for (const std::size_t staging : {64UL, 77UL, 1000UL, 4096UL, 1UL << 20}) {
      CAPTURE(seed, staging);
      io::CheckpointStore store(scratch / ("streamed" + name + "-" + std::to_string(staging)), 1);
      CountingSource source(samples);
      std::vector<std::byte> memory(staging);

      const fs::path found = store.write(12, source, small_facts(12), memory);

      check_same_files(found, expected);
      CHECK(samples.equal(*store.load_newest()));
      CHECK(source.bytes == bytes_in(samples));  // each tensor once
      CHECK(source.largest <= staging);
      CHECK(source.whole_elements);
    }
  }
}

TEST_CASE("a streamed checkpoint that is there already is left alone, another one is replaced",
          "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  const fs::path path = write_small(store, 3);
  const auto before = fs::last_write_time(path / "state.h5");
  std::vector<std::byte> memory(4096);
  const Samples same = small_samples(3);
  CountingSource equal(same);

  CHECK(store.write(3, equal, small_facts(3), memory) == path);
  CHECK(fs::last_write_time(path / "state.h5") == before);

  const Samples changed = small_samples(4);
  CountingSource other(changed);
  store.write(3, other, small_facts(3), memory);
  CHECK(other.bytes == 2 * bytes_in(changed));  // to compare, and to write
  CHECK(changed.equal(*store.load_newest()));
  CHECK(entries(scratch.path()).size() == 1);
}

TEST_CASE("old checkpoints give way to streamed ones", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  std::vector<std::byte> memory(4096);
  for (const std::int64_t step : {1, 2, 3}) {
    const Samples samples = small_samples(step);
    CountingSource source(samples);
    store.write(step, source, small_facts(step), memory);
  }
  const auto kept = store.list();
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].step == 3);
  CHECK(kept[1].step == 2);
}

TEST_CASE("a source that fails on the way leaves the former checkpoint and nothing else", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 1);
  std::vector<std::byte> memory(64);
  const Samples samples = small_samples(2);
  CountingSource counting(samples);
  io::CheckpointStore(scratch / "elsewhere", 1).write(2, counting, {}, memory);
  fs::remove_all(scratch / "elsewhere");
  REQUIRE(counting.reads > 4);
  for (std::size_t nth = 1; nth <= counting.reads; ++nth) {
    CAPTURE(nth);
    CountingSource source(samples);
    source.before_read = [nth](std::size_t reads) {
      if (reads == nth) {
        throw IoError("the spill file is damaged");
      }
    };
    CHECK_THROWS_MATCHES(store.write(2, source, {}, memory), IoError,
                         MessageMatches(ContainsSubstring("the spill file is damaged")));
    CHECK(entries(scratch.path()).size() == 1);
    CHECK(small_samples(1).equal(*store.load_newest()));
  }
}

TEST_CASE("bytes that are not on the disk as written keep a checkpoint from its name", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 1);
  std::vector<std::byte> memory(64);
  const Samples samples = small_samples(2);
  // HDF5's own, and the last one that was written: a tensor's.
  for (const bool last : {false, true}) {
    CAPTURE(last);
    bool damaged = false;
    CountingSource source(samples);
    source.before_read = [&](std::size_t reads) {
      for (const auto& entry : fs::directory_iterator(scratch.path())) {
        const fs::path state = entry.path() / "state.h5";
        if (reads == 5 && entry.path().filename().string().starts_with(".tmp-")) {
          std::string bytes = read_file(state);
          const std::size_t at = last ? bytes.size() - 1 : 50;
          std::fstream file(state, std::ios::in | std::ios::out | std::ios::binary);
          file.seekp(static_cast<std::streamoff>(at));
          file.put(static_cast<char>(bytes.at(at) ^ 1));
          damaged = true;
        }
      }
    };
    CHECK_THROWS_MATCHES(store.write(2, source, {}, memory), IoError,
                         MessageMatches(ContainsSubstring("reads back other than it was written")));
    CHECK(damaged);
    CHECK(entries(scratch.path()).size() == 1);
    CHECK(small_samples(1).equal(*store.load_newest()));
  }
}

TEST_CASE("a streaming writer killed at any piece leaves the former checkpoint", "[io]") {
  const Scratch scratch(quick_directory());
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 1);
  const Samples samples = small_samples(2);
  std::size_t killed = 0;
  for (std::size_t nth = 1;; ++nth) {
    CAPTURE(nth);
    const bool dead = is_killed([&] {
      std::vector<std::byte> memory(64);
      CountingSource source(samples);
      source.before_read = [nth](std::size_t reads) {
        if (reads == nth) {
          ::kill(::getpid(), SIGKILL);
        }
      };
      io::CheckpointStore(scratch.path(), 2).write(2, source, small_facts(2), memory);
    });
    if (!dead) {
      break;
    }
    ++killed;
    REQUIRE(store.load_newest()->step == 1);
    REQUIRE(small_samples(1).equal(*store.load_newest()));
  }
  CHECK(killed > 4);
  CHECK(samples.equal(*store.load_newest()));
  CHECK(entries(scratch.path()).size() == 2);  // no rest of any writer
}

TEST_CASE("a writer streams at once, tells of a failure once, and takes staging memory only",
          "[io]") {
  const Scratch scratch;
  const fs::path folder = scratch / "checkpoints";
  overwrite_file(folder, "a file");
  io::CheckpointStore store(folder, 3);
  io::CheckpointWriter writer(store);
  const Samples samples = small_samples(1);
  CountingSource source(samples);

  writer.write(1, source, {});
  CHECK_FALSE(writer.busy());
  CHECK_THROWS_AS(writer.write(2, source, {}), UsageError);
  CHECK_THROWS_MATCHES(writer.take(), IoError,
                       MessageMatches(ContainsSubstring("Not a directory")));
  CHECK_FALSE(writer.take());
  fs::remove(folder);
  writer.write(2, source, {});

  const auto committed = writer.take();
  REQUIRE(committed);
  CHECK(committed->step == 2);
  CHECK(committed->seconds > 0.0);
  CHECK(samples.equal(*store.load_newest()));
  CHECK(writer.bytes() == io::CheckpointWriter::staging_bytes);
}

TEST_CASE("what can't be streamed is refused before anything is written", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch / "none", 3);
  std::vector<std::byte> memory(64);
  const Samples samples = small_samples(1);
  CountingSource source(samples);
  CHECK_THROWS_AS(store.write(-1, source, {}, memory), UsageError);
  CHECK_THROWS_AS(store.write(1, source, {{"note", "\xff"}}, memory), UsageError);
  CHECK_THROWS_AS(store.write(1, source, {}, std::span(memory).first(63)), UsageError);
  Samples twice;
  twice.add("weights/a", DType::f32, {2}, 1);
  twice.add("weights/a", DType::f32, {2}, 1);
  CountingSource doubled(twice);
  CHECK_THROWS_AS(store.write(1, doubled, {}, memory), UsageError);
  CHECK_FALSE(fs::exists(scratch / "none"));
  CHECK(source.reads == 0);
}

}  // namespace zygos::test_checkpoint_stream
