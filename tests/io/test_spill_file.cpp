// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The file tier: what was written comes back, or an error says why not; the space is there before
// it is needed, and nothing is left behind.
#include "support/skip.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/spill_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fcntl.h>
#include <hdf5.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace zygos::test_spill_file {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::byte& one : bytes) {
    one = static_cast<std::byte>(random());
  }
  return bytes;
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A name by which this process can open its spill file in the folder once more.
std::string open_spill_file(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(entry.path(), gone).string();
    if (target.starts_with((folder / ".spill-").string())) {
      return entry.path().string();
    }
  }
  return {};
}

/// Sizes around pages and chunks.
const std::vector<io::SpillDataset> some_datasets{{"one byte", 1},
                                                  {"a page", 4096},
                                                  {"a chunk and a byte", (1U << 20U) + 1},
                                                  {"several chunks", 5 * 700000 + 13}};

enum Outcome : int { as_expected = 0, not_refused = 10, unfit = 12, other = 13 };

template <class F>
int in_child(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    int outcome = other;
    try {
      outcome = f();
    } catch (...) {
    }
    ::_exit(outcome);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool says(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("any part of a spilled buffer comes back by itself, and damage in its chunks is found",
          "[io]") {
  const test::TemporaryFolder folder("spill-parts");
  io::SpillFile file(folder.path(), some_datasets);
  for (std::size_t i = 0; i < some_datasets.size(); ++i) {
    const std::size_t size = some_datasets[i].bytes;
    const Bytes all = random_bytes(size, static_cast<unsigned>(i));
    file.write(i, all);
    for (const std::size_t begin : {std::size_t{0}, size / 3, size - 1, size}) {
      for (const std::size_t end : {begin, begin + (size - begin) / 2, size}) {
        CAPTURE(some_datasets[i].name, begin, end);
        Bytes part(end - begin);
        file.read_part(i, begin, part);
        CHECK(
            std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(begin)));
      }
    }
    Bytes more(2);
    CHECK_THROWS_AS(file.read_part(i, size - 1, more), InternalError);
  }

  {
    // The last byte of the largest buffer lies somewhere at the end of the file.
    std::fstream raw(open_spill_file(folder.path()),
                     std::ios::in | std::ios::out | std::ios::binary);
    const Bytes last = random_bytes(some_datasets[3].bytes, 3);
    const std::string end(reinterpret_cast<const char*>(last.data()) + last.size() - 64, 64);
    const std::string all(std::istreambuf_iterator<char>(raw), {});
    const std::size_t at = all.find(end);
    REQUIRE(at != std::string::npos);
    raw.clear();
    raw.seekp(static_cast<std::streamoff>(at));
    raw.put(static_cast<char>(~static_cast<unsigned char>(all[at])));
  }
  Bytes part(1);
  file.read_part(3, 0, part);  // of a chunk that is whole
  CHECK_THROWS_MATCHES(file.read_part(3, some_datasets[3].bytes - 1, part), IoError,
                       MessageMatches(ContainsSubstring("damaged")));
}

TEST_CASE("Spilled buffers come back byte for byte, in any order and whatever was there before",
          "[io]") {
  const test::TemporaryFolder folder("spill");
  io::SpillFile file(folder.path(), some_datasets);
  std::vector<Bytes> written;

  for (unsigned round = 0; round < 2; ++round) {
    written.clear();
    for (std::size_t i = 0; i < some_datasets.size(); ++i) {
      written.push_back(random_bytes(some_datasets[i].bytes, 10 * round + unsigned(i)));
      file.write(i, written.back());
    }
    for (std::size_t i = some_datasets.size(); i-- > 0;) {
      CAPTURE(round, some_datasets[i].name);
      Bytes back(some_datasets[i].bytes);
      file.read(i, back);
      CHECK(back == written[i]);
      CHECK(file.used_bytes(i) == back.size());
    }
  }
}

TEST_CASE("The first bytes of a buffer may be spilled alone", "[io]") {
  const test::TemporaryFolder folder("spill-part");
  io::SpillFile file(folder.path(), {{"a", 3U << 20U}});
  const Bytes part = random_bytes((1U << 20U) + 17, 3);
  Bytes back(part.size());

  file.write(0, part);
  file.read(0, back);

  CHECK(back == part);
  CHECK(file.used_bytes(0) == part.size());
  Bytes more(part.size() + 1);
  CHECK_THROWS_AS(file.read(0, more), InternalError);
  CHECK_THROWS_AS(file.write(0, Bytes((3U << 20U) + 1)), InternalError);
  CHECK_THROWS_AS(file.write(1, part), InternalError);
}

TEST_CASE("The file is HDF5, with a chunked dataset for each buffer", "[io]") {
  const test::TemporaryFolder folder("spill-hdf5");
  io::SpillFile spilled(folder.path(), some_datasets);
  const Bytes bytes = random_bytes(some_datasets[3].bytes, 5);
  spilled.write(3, bytes);

  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const std::string name = open_spill_file(folder.path());
  REQUIRE(!name.empty());
  const fs::path copy = folder.path() / "copy.h5";
  fs::copy_file(name, copy);  // the file itself is locked
  const hid_t file = H5Fopen(copy.c_str(), H5F_ACC_RDONLY, access);
  REQUIRE(file >= 0);
  const hid_t dataset = H5Dopen2(file, "several chunks", H5P_DEFAULT);
  Bytes back(bytes.size());
  CHECK(H5Dread(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, back.data()) >= 0);
  CHECK(back == bytes);
  const hid_t creation = H5Dget_create_plist(dataset);
  CHECK(H5Pget_layout(creation) == H5D_CHUNKED);
  H5Pclose(creation);
  H5Dclose(dataset);
  H5Fclose(file);
  H5Pclose(access);
}

TEST_CASE("A damaged byte is an I/O error that names buffer, folder and what to do", "[io]") {
  const test::TemporaryFolder folder("spill-damage");
  io::SpillFile file(folder.path(), {{"first", 100}, {"second", 3U << 20U}});
  Bytes bytes = random_bytes(3U << 20U, 7);
  file.write(0, std::span(bytes).first(100));
  file.write(1, bytes);

  // The last byte of the second buffer's second chunk, wherever in the file that is.
  const std::string name = open_spill_file(folder.path());
  REQUIRE(!name.empty());
  std::fstream raw(name, std::ios::in | std::ios::out | std::ios::binary);
  std::string all(std::istreambuf_iterator<char>(raw), {});
  const std::string part(reinterpret_cast<const char*>(bytes.data()) + (1U << 20U), 64);
  const std::size_t at = all.find(part);
  REQUIRE(at != std::string::npos);
  raw.clear();
  raw.seekp(static_cast<std::streamoff>(at + (1U << 20U) - 1));
  raw.put(static_cast<char>(~static_cast<unsigned char>(all[at + (1U << 20U) - 1])));
  raw.close();

  Bytes back(bytes.size());
  CHECK_THROWS_MATCHES(
      file.read(1, back), IoError,
      MessageMatches(ContainsSubstring("'second'") && ContainsSubstring("chunk 2 of 3") &&
                     ContainsSubstring(folder.path().string()) &&
                     ContainsSubstring("zygos resume")));
  CHECK_NOTHROW(file.read(0, std::span(back).first(100)));
  file.write(1, bytes);  // written anew, it is whole again
  CHECK_NOTHROW(file.read(1, back));
}

TEST_CASE("More than the disk has free is refused before anything is written", "[io]") {
  const test::TemporaryFolder folder("spill-large");
  const auto free = fs::space(folder.path()).available;

  CHECK_THROWS_MATCHES(
      io::SpillFile(folder.path(), {{"huge", free + (std::size_t{1} << 30)}}), IoError,
      MessageMatches(ContainsSubstring("bytes needed") && ContainsSubstring("available") &&
                     ContainsSubstring(folder.path().string()) &&
                     ContainsSubstring("memory_plan.folder")));
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("A disk that is full, at the start or later, is an I/O error", "[io]") {
  const test::TemporaryFolder folder("spill-full");
  const int outcome = in_child([&]() -> int {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
      return unfit;
    }
    // What is allocated stays: whoever fills the disk afterwards takes nothing from it.
    io::SpillFile file(folder.path(), {{"a", 2U << 20U}});
    std::ofstream(folder.path() / "others") << std::string(8U << 20U, 'x');
    const Bytes bytes = random_bytes(2U << 20U, 1);
    file.write(0, bytes);
    Bytes back(bytes.size());
    file.read(0, back);
    if (back != bytes) {
      return other;
    }
    try {
      io::SpillFile second(folder.path(), {{"b", 1U << 20U}});
      return not_refused;
    } catch (const IoError& error) {
      return says(error, "available") ? as_expected : other;
    }
  });
  if (outcome == unfit) {
    test::skip_without("mount", "mounting a small file system is not permitted here");
  }
  CHECK(outcome == as_expected);
}

TEST_CASE("A file that may not be written any more is an I/O error with the cause", "[io]") {
  const test::TemporaryFolder folder("spill-limit");
  const int outcome = in_child([&]() -> int {
    ::signal(SIGXFSZ, SIG_IGN);
    io::SpillFile file(folder.path(), {{"a", 2U << 20U}});
    const rlimit size{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &size);
    try {
      file.write(0, random_bytes(2U << 20U, 1));
      return not_refused;
    } catch (const IoError& error) {
      if (!says(error, "cannot write 'a'") || !says(error, "Checkpoints are untouched")) {
        return other;
      }
    }
    try {
      Bytes back(2U << 20U);
      file.read(0, back);  // half written is not written
      return not_refused;
    } catch (const InternalError&) {
    }
    try {
      io::SpillFile second(folder.path(), {{"b", 1U << 20U}});
      return not_refused;
    } catch (const IoError& error) {
      return says(error, "ulimit -f") && files_in(folder.path()) == 0 ? as_expected : other;
    }
  });
  CHECK(outcome == as_expected);
}

TEST_CASE("Nothing is left of a spill file, whether its process ends or is killed", "[io]") {
  const test::TemporaryFolder folder("spill-killed");
  {
    const io::SpillFile file(folder.path(), some_datasets);
    CHECK(files_in(folder.path()) == 0);
  }
  std::mt19937 random(11);
  for (int kill_number = 0; kill_number < 20; ++kill_number) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        const Bytes bytes(1U << 20U);
        while (true) {
          io::SpillFile file(folder.path(), some_datasets);
          file.write(3, bytes);
        }
      } catch (...) {
      }
      ::_exit(other);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));

    const io::SpillFile next(folder.path(), some_datasets);
    REQUIRE(files_in(folder.path()) == 0);
  }
}

TEST_CASE("What a killed process left is removed at the next start, what is in use is not",
          "[io]") {
  const test::TemporaryFolder folder("spill-abandoned");
  const fs::path abandoned = folder.path() / ".spill-abandoned.h5";
  const fs::path used = folder.path() / ".spill-used.h5";
  for (const fs::path& file : {abandoned, used, folder.path() / "mine.h5"}) {
    std::ofstream(file) << "x";
  }
  const int lock = ::open(used.c_str(), O_RDWR);
  REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);

  const io::SpillFile file(folder.path(), {{"a", 1}});

  CHECK_FALSE(fs::exists(abandoned));
  CHECK(fs::exists(used));
  CHECK(fs::exists(folder.path() / "mine.h5"));
  ::close(lock);
  CHECK(io::remove_abandoned_spill_files(folder.path()) == 1);
}

TEST_CASE("Spill files are made in a folder that others clear of abandoned ones all the time",
          "[io]") {
  const test::TemporaryFolder folder("spill-cleared");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (;;) {
      io::remove_abandoned_spill_files(folder.path());
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }

  int failed = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      const io::SpillFile file(folder.path(), {{"a", 1}, {"b", 5000}});
    } catch (const IoError&) {
      ++failed;
    }
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  CHECK(failed == 0);
}

TEST_CASE("A folder that cannot be made is an I/O error with its name", "[io]") {
  const test::TemporaryFolder folder("spill-folder");
  std::ofstream(folder.path() / "file") << "x";

  CHECK_THROWS_MATCHES(io::SpillFile(folder.path() / "file" / "below", {{"a", 1}}), IoError,
                       MessageMatches(ContainsSubstring("file/below")));
  CHECK_NOTHROW(io::SpillFile(folder.path() / "new" / "below", {{"a", 1}}));
}

}  // namespace zygos::test_spill_file
