// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/bad_data.hpp"
#include "support/idx_files.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batch_feed.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <set>
#include <string>

namespace zygos::test_bad_data {
namespace {

using zygos::test::BadData;

TEST_CASE("Every bad data file is refused with its own words and exit code 3") {
  const zygos::test::TemporaryFolder folder("bad-data");
  const auto all = zygos::test::write_bad_data(folder.path());
  std::set<std::string> names;

  for (const BadData& bad : all) {
    INFO(bad.name);
    names.insert(bad.name);
    try {
      zygos::test::load(bad, folder.path());
      FAIL_CHECK("was loaded");
    } catch (const zygos::Error& error) {
      INFO("found:    " << error.what());
      INFO("expected: " << bad.message);
      CHECK(error.code() == zygos::ExitCode::data);
      CHECK(zygos::test::matches(bad, folder.path(), error.what()));
    }
  }
  CHECK(names.size() == all.size());
  CHECK(all.size() >= 40);
}

/// Opens the set and reads all of it, a sample at a time.
void read_through(const BadData& bad, const std::filesystem::path& folder) {
  zygos::io::LoadOptions options;
  options.classes = bad.classes;
  if (bad.name == "hdf5-label-matrix") {
    options.classes = std::numeric_limits<std::int32_t>::max();  // must be said of such labels
  }
  const auto data =
      zygos::io::open_hdf5_dataset({folder / bad.inputs, bad.inputs_dataset},
                                   {folder / bad.targets, bad.targets_dataset}, options);
  zygos::io::BatchFeed feed(data, {.batch = 1});
  feed.seek(1, data.size());
  for (std::int64_t i = 0; i < data.size(); ++i) {
    feed.next();
  }
}

TEST_CASE("Every bad HDF5 file is refused with the same words if its samples are read one by one") {
  const zygos::test::TemporaryFolder folder("bad-data-read");
  for (const BadData& bad : zygos::test::write_bad_data(folder.path())) {
    if (bad.format != zygos::test::BadFormat::hdf5) {
      continue;
    }
    INFO(bad.name);
    try {
      read_through(bad, folder.path());
      FAIL_CHECK("was read");
    } catch (const zygos::Error& error) {
      INFO("found:    " << error.what());
      INFO("expected: " << bad.message);
      CHECK(error.code() == zygos::ExitCode::data);
      CHECK(zygos::test::matches(bad, folder.path(), error.what()));
    }
  }
}

/// A line of /proc/self/status in MiB. Address space would be the sanitizers' own; resident memory
/// says whether anything large was touched.
long status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) {
      return std::stol(line.substr(key.size() + 1)) / 1024;
    }
  }
  return 0;
}

/// Forgets the peak of resident memory so far.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

TEST_CASE("Headers that promise the moon cost neither time nor memory") {
  const zygos::test::TemporaryFolder folder("bombs");
  const auto all = zygos::test::write_bad_data(folder.path());
  reset_peak();
  const long before = status_mib("VmRSS");
  int bombs = 0;

  for (const BadData& bad : all) {
    if (bad.name.find("bomb") == std::string::npos) {
      continue;
    }
    INFO(bad.name);
    ++bombs;
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(zygos::test::load(bad, folder.path()), zygos::DataError);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    CHECK(taken.count() < 1.0);
  }

  CHECK(bombs >= 8);
  CHECK(status_mib("VmHWM") - before < 64);
}

/// Writes three labels; returns the bytes of the images that belong to them.
zygos::test::Bytes write_good(const std::filesystem::path& folder) {
  zygos::test::write_bytes(folder / "good-labels.idx",
                           zygos::test::idx_bytes(0x08, {3}, {0, 1, 2}));
  return zygos::test::idx_bytes(0x08, {3, 2, 2}, zygos::test::Bytes(12, 7));
}

TEST_CASE("A data set cut at every length is refused and never crashes") {
  const zygos::test::TemporaryFolder folder("cut");
  const auto plain = write_good(folder.path());

  for (const auto& whole : {plain, zygos::test::gzip_bytes(plain, 9)}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      INFO(length);
      zygos::test::write_bytes(
          folder.path() / "cut.idx",
          {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
      const BadData cut{"cut", zygos::test::BadFormat::idx, "cut.idx", "good-labels.idx", {}, {}, 0,
                        {}};
      CHECK_THROWS_AS(zygos::test::load(cut, folder.path()), zygos::DataError);
    }
  }
}

TEST_CASE("No flipped bit of a gzip data set changes what is read") {
  const zygos::test::TemporaryFolder folder("flipped");
  const auto whole = zygos::test::gzip_bytes(write_good(folder.path()), 9);
  const BadData flipped{
      "flipped", zygos::test::BadFormat::idx, "flipped.idx", "good-labels.idx", {}, {}, 0, {}};

  std::size_t refused = 0;
  // The first ten bytes are gzip's header, of which time, flags of the packer and system are free.
  for (std::size_t bit = 80; bit < whole.size() * 8; ++bit) {
    INFO(bit);
    auto bytes = whole;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    zygos::test::write_bytes(folder.path() / "flipped.idx", bytes);
    try {
      // Only the bits that pad the last byte of the stream mean nothing.
      const auto data = zygos::test::load(flipped, folder.path());
      CHECK(std::ranges::count(data.inputs.as<std::uint8_t>(), 7) == 12);
    } catch (const zygos::DataError&) {
      ++refused;
    }
  }
  CHECK(refused >= whole.size() * 8 - 80 - 7);
}

}  // namespace

}  // namespace zygos::test_bad_data
