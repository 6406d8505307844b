// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Files written and read past the system's cache.
#include "io/checkpoint/checkpoint_draft.hpp"
#include "io/files/direct_file.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

namespace zygos::test_direct_file {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Bytes that begin so far behind a multiple of the alignment.
class Bytes {
 public:
  Bytes(std::size_t size, std::size_t offset)
      : memory_(size + offset + io::direct_alignment), size_(size) {
    void* begin = memory_.data();
    std::size_t room = memory_.size();
    begin_ = static_cast<std::byte*>(std::align(io::direct_alignment, size, begin, room)) + offset;
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < size; ++i) {
      state = state * 1664525U + 1013904223U;
      begin_[i] = static_cast<std::byte>(state >> 24);
    }
  }
  std::span<const std::byte> all() const { return {begin_, size_}; }

 private:
  std::vector<std::byte> memory_;
  std::byte* begin_ = nullptr;
  std::size_t size_;
};

std::vector<std::byte> read_back(const fs::path& file) {
  std::vector<std::byte> found;
  io::read_from_disk(file, [&](auto piece) {
    found.insert(found.end(), piece.begin(), piece.end());
    return true;
  });
  return found;
}

/// Share of the file's pages that the system's cache holds.
double cached_share(const fs::path& file) {
  std::uint64_t size = 0;
  const io::Descriptor opened = io::open_regular(file, size);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, opened.get(), 0);
  REQUIRE(mapped != MAP_FAILED);
  std::vector<unsigned char> pages((size + io::direct_alignment - 1) / io::direct_alignment);
  CHECK(::mincore(mapped, size, pages.data()) == 0);
  ::munmap(mapped, size);
  const auto resident = std::ranges::count_if(pages, [](auto page) { return (page & 1) != 0; });
  return static_cast<double>(resident) / static_cast<double>(pages.size());
}

/// File systems whose direct I/O is known to leave no page behind.
bool bypasses_cache(const fs::path& file) {
  constexpr long ext4 = 0xEF53;
  constexpr long xfs = 0x58465342;
  struct statfs facts {};
  return ::statfs(file.c_str(), &facts) == 0 && (facts.f_type == ext4 || facts.f_type == xfs);
}

}  // namespace

TEST_CASE("a file has the bytes that were written, whatever their number and where they lie",
          "[io]") {
  const Scratch scratch;
  const std::size_t size = GENERATE(as<std::size_t>{}, 0, 1, 4095, 4096, io::direct_min_bytes - 1,
                                    io::direct_min_bytes, io::direct_min_bytes + 4097);
  const std::size_t offset = GENERATE(as<std::size_t>{}, 0, 8);
  CAPTURE(size, offset);
  const Bytes bytes(size, offset);
  io::write_large_file_durably(scratch / "file", bytes.all());
  CHECK(std::ranges::equal(read_back(scratch / "file"), bytes.all()));
  CHECK(fs::file_size(scratch / "file") == size);
}

TEST_CASE("a large file leaves the cache to others", "[io]") {
  const Scratch scratch;
  const Bytes bytes(io::direct_min_bytes + 100, 0);
  io::write_large_file_durably(scratch / "file", bytes.all());
  CHECK(std::ranges::equal(read_back(scratch / "file"), bytes.all()));
  CHECK((!bypasses_cache(scratch / "file") || cached_share(scratch / "file") < 0.1));
}

TEST_CASE("a file that exists is not written over", "[io]") {
  const Scratch scratch;
  const Bytes bytes(10, 0);
  io::write_large_file_durably(scratch / "file", bytes.all());
  CHECK_THROWS_AS(io::write_large_file_durably(scratch / "file", bytes.all()), IoError);
  CHECK_THROWS_AS(read_back(scratch / "none"), IoError);
}

TEST_CASE("a checkpoint whose file is not what was written is removed, and earlier ones stay",
          "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);
  const fs::path before = write_small(store, 1);
  const io::Draft draft = io::make_draft(2, small_samples(2).refs(), small_facts(2));
  const fs::path committed = io::commit_draft(scratch.path(), draft);
  CHECK(io::CheckpointStore::load(committed).step == 2);
  CHECK_NOTHROW(io::verify_on_disk(committed, draft));
  CHECK(fs::exists(before));
  {
    std::fstream file(committed / "state.h5", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(draft.state.bytes().size() - 1));
    file.put(static_cast<char>(draft.state.bytes().back() ^ std::byte{1}));
  }
  CHECK_THROWS_MATCHES(io::verify_on_disk(committed, draft), IoError,
                       MessageMatches(ContainsSubstring("reads back other than it was written")));
  CHECK_FALSE(fs::exists(committed));
  CHECK(small_samples(1).equal(*store.load_newest()));
}

}  // namespace zygos::test_direct_file
