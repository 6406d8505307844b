// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/spill_file.hpp"

#include "io/files/file_sync.hpp"
#include "io/spill/spill_layout.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = ".spill-";
constexpr std::string_view extension = ".h5";
constexpr std::uint64_t room_for_metadata = std::uint64_t{64} << 10;

std::string text_of_error(int number) { return std::generic_category().message(number); }

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    throw IoError(
        fmt::format("cannot make the folder {} for spilled data: {}; choose another "
                    "(memory_plan.folder)",
                    folder.string(), problem.message()));
  }
}

void require_room(const fs::path& folder, const std::vector<SpillDataset>& datasets) {
  std::uint64_t needed = room_for_metadata;
  for (const SpillDataset& one : datasets) {
    const ChunkedRange range = chunks_for(one.bytes);
    needed += std::uint64_t{range.chunks} * range.chunk_bytes;
  }
  const std::uint64_t available = free_bytes(folder);
  if (available < needed) {
    throw IoError(fmt::format(
        "no space for spilled data in {}: {} bytes needed, {} available; free {} bytes, choose "
        "another folder (memory_plan.folder), or spill less (memory_plan, policy.states, "
        "policy.stash)",
        folder.string(), needed, available, needed - available));
  }
  // HDF5 does not survive a file that it cannot close: found out here, nothing is open yet.
  rlimit largest{};
  if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY &&
      largest.rlim_cur < needed) {
    throw IoError(fmt::format(
        "spilled data in {} need a file of {} bytes, and this process may not write files of more "
        "than {} (ulimit -f); raise the limit, or spill less (memory_plan, policy.states, "
        "policy.stash)",
        folder.string(), needed, largest.rlim_cur));
  }
}

/// Null where another process was faster: it took the file for an abandoned one.
Descriptor open_locked(const fs::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!opened && errno != ENOENT) {
    throw IoError(fmt::format("cannot open {}: {}", file.string(), text_of_error(errno)));
  }
  if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    opened = Descriptor();
  }
  return opened;
}

std::uint64_t size_of_file(const Descriptor& file, const fs::path& folder) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) {
    throw IoError(fmt::format("cannot examine the spill file in {}: {}", folder.string(),
                              text_of_error(errno)));
  }
  return static_cast<std::uint64_t>(facts.st_size);
}

/// HDF5 leaves holes, which would only be filled, or not, when they are written to.
void allocate(const Descriptor& file, std::uint64_t bytes, const fs::path& folder) {
  const int problem = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (problem != 0) {
    throw IoError(
        fmt::format("cannot allocate {} bytes for spilled data in {}: {}; free some "
                    "space, choose another folder (memory_plan.folder), or spill less",
                    bytes, folder.string(), text_of_error(problem)));
  }
}

}  // namespace

struct SpillFile::Impl {
  fs::path folder;
  std::vector<SpillDataset> datasets;
  std::vector<ChunkedRange> ranges;
  Descriptor file;
  std::uint64_t bytes = 0;
  std::vector<std::vector<XXH64_hash_t>> sums;  ///< by dataset and chunk, of what was written last
  std::vector<std::size_t> written;             ///< bytes, by dataset
  std::vector<std::size_t> most;
  std::vector<std::byte> one_chunk;  ///< room for one

  void create();
  /// Calls f(chunk, offset in the file, first byte, bytes) for each chunk of the first `count`
  /// bytes.
  template <class F>
  void for_chunks(std::size_t dataset, std::size_t count, F&& f) const {
    const ChunkedRange& range = ranges[dataset];
    for (std::size_t chunk = 0, begin = 0; begin < count; ++chunk, begin += range.chunk_bytes) {
      f(chunk, range.offset + begin, begin, std::min(range.chunk_bytes, count - begin));
    }
  }
  void write_all(std::span<const std::byte> bytes, std::uint64_t offset, std::size_t dataset) const;
  void read_all(std::span<std::byte> bytes, std::uint64_t offset, std::size_t dataset) const;
  /// A chunk, all of what was written of it, compared with its checksum.
  void read_chunk(std::size_t dataset, std::size_t number, std::span<std::byte> out) const;
  [[noreturn]] void fail(const char* what, std::size_t dataset, const std::string& why) const {
    throw IoError(
        fmt::format("cannot {} '{}' {} the spill file in {}: {}. Checkpoints are "
                    "untouched: remove the cause and go on with 'zygos resume'",
                    what, datasets[dataset].name, std::string_view(what) == "read" ? "from" : "to",
                    folder.string(), why));
  }
};

void SpillFile::Impl::create() {
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts && !file; ++attempt) {
    const fs::path path = folder / fmt::format("{}{}{}", prefix, unique_suffix(), extension);
    try {
      ranges = create_spill_layout(path, datasets);
      file = open_locked(path);
      if (file) {
        bytes = size_of_file(file, folder);
        for (std::size_t i = 0; i < datasets.size(); ++i) {
          bytes = std::max(bytes, ranges[i].offset + datasets[i].bytes);
        }
        allocate(file, bytes, folder);
      }
    } catch (const IoError&) {
      // Another process may have taken it for an abandoned one while HDF5 was at it.
      const bool removed = ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
      if (!removed || attempt + 1 == attempts) {
        ::unlink(path.c_str());
        throw;
      }
    } catch (...) {
      ::unlink(path.c_str());
      throw;
    }
    ::unlink(path.c_str());
  }
  if (!file) {
    throw IoError(
        fmt::format("cannot keep a spill file in {}: others remove it at once", folder.string()));
  }
}

void SpillFile::Impl::write_all(std::span<const std::byte> all, std::uint64_t offset,
                                std::size_t dataset) const {
  while (!all.empty()) {
    const ssize_t done = ::pwrite(file.get(), all.data(), all.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      fail("write", dataset, text_of_error(done < 0 ? errno : ENOSPC));
    }
    all = all.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

void SpillFile::Impl::read_all(std::span<std::byte> all, std::uint64_t offset,
                               std::size_t dataset) const {
  while (!all.empty()) {
    const ssize_t done = ::pread(file.get(), all.data(), all.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      fail("read", dataset, done < 0 ? text_of_error(errno) : "the file has been cut short");
    }
    all = all.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

void SpillFile::Impl::read_chunk(std::size_t dataset, std::size_t number,
                                 std::span<std::byte> out) const {
  const ChunkedRange& range = ranges[dataset];
  read_all(out, range.offset + number * range.chunk_bytes, dataset);
  if (XXH3_64bits(out.data(), out.size()) != sums[dataset][number]) {
    fail("read", dataset,
         fmt::format("chunk {} of {} is damaged (its checksum is another one than "
                     "when it was written)",
                     number + 1, range.chunks));
  }
}

SpillFile::SpillFile(const fs::path& folder, std::vector<SpillDataset> datasets)
    : impl_(std::make_unique<Impl>()) {
  for (const SpillDataset& one : datasets) {
    ZYGOS_REQUIRE(one.bytes > 0, "a spilled buffer without bytes");
  }
  impl_->folder = folder;
  impl_->datasets = std::move(datasets);
  make_folder(folder);
  remove_abandoned_spill_files(folder);
  require_room(folder, impl_->datasets);
  impl_->create();
  for (const ChunkedRange& range : impl_->ranges) {
    impl_->sums.emplace_back(range.chunks, 0);
  }
  impl_->written.assign(impl_->datasets.size(), 0);
  impl_->most.assign(impl_->datasets.size(), 0);
}

SpillFile::~SpillFile() = default;

void SpillFile::write(std::size_t dataset, std::span<const std::byte> bytes) {
  ZYGOS_REQUIRE(dataset < impl_->datasets.size() && bytes.size() <= impl_->datasets[dataset].bytes,
                "more bytes than a spilled buffer has");
  impl_->written[dataset] = 0;  // until all of them are there
  impl_->for_chunks(
      dataset, bytes.size(),
      [&](std::size_t chunk, std::uint64_t offset, std::size_t begin, std::size_t count) {
        const auto part = bytes.subspan(begin, count);
        impl_->sums[dataset][chunk] = XXH3_64bits(part.data(), part.size());
        impl_->write_all(part, offset, dataset);
      });
  impl_->written[dataset] = bytes.size();
  impl_->most[dataset] = std::max(impl_->most[dataset], bytes.size());
}

void SpillFile::read(std::size_t dataset, std::span<std::byte> bytes) {
  ZYGOS_REQUIRE(dataset < impl_->datasets.size() && bytes.size() == impl_->written[dataset],
                "a spilled buffer is read as it was written");
  impl_->for_chunks(dataset, bytes.size(),
                    [&](std::size_t chunk, std::uint64_t, std::size_t begin, std::size_t count) {
                      impl_->read_chunk(dataset, chunk, bytes.subspan(begin, count));
                    });
}

void SpillFile::read_part(std::size_t dataset, std::size_t begin, std::span<std::byte> bytes) {
  ZYGOS_REQUIRE(dataset < impl_->datasets.size() && begin <= impl_->written[dataset] &&
                    bytes.size() <= impl_->written[dataset] - begin,
                "a part of a spilled buffer that was not written");
  const std::size_t chunk_bytes = impl_->ranges[dataset].chunk_bytes;
  while (!bytes.empty()) {
    const std::size_t number = begin / chunk_bytes;
    const std::size_t first = begin - number * chunk_bytes;
    const std::size_t all = std::min(chunk_bytes, impl_->written[dataset] - number * chunk_bytes);
    const std::size_t count = std::min(all - first, bytes.size());
    if (count == all) {
      impl_->read_chunk(dataset, number, bytes.first(count));
    } else {
      impl_->one_chunk.resize(std::max(impl_->one_chunk.size(), all));
      const auto whole = std::span(impl_->one_chunk).first(all);
      impl_->read_chunk(dataset, number, whole);
      std::ranges::copy(whole.subspan(first, count), bytes.begin());
    }
    begin += count;
    bytes = bytes.subspan(count);
  }
}

const std::vector<SpillDataset>& SpillFile::datasets() const noexcept { return impl_->datasets; }

std::size_t SpillFile::used_bytes(std::size_t dataset) const { return impl_->most.at(dataset); }

std::uint64_t SpillFile::file_bytes() const noexcept { return impl_->bytes; }

std::size_t remove_abandoned_spill_files(const fs::path& folder) {
  std::size_t removed = 0;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem); !problem && entry != fs::directory_iterator();
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(extension)) {
      continue;
    }
    Descriptor opened(::open(entry->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (opened && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0 &&
        ::unlink(entry->path().c_str()) == 0) {
      ++removed;
    }
  }
  return removed;
}

}  // namespace zygos::io
