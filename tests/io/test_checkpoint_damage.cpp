// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whatever happens to the bytes of a checkpoint on disk: it is refused with exit code 4, and the
// one before it is used.
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/hash.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

namespace zygos::test_checkpoint_damage {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Checkpoints of steps 1 and 2, and a way to damage the second and make it whole again.
class TwoCheckpoints {
 public:
  TwoCheckpoints()
      : store_(scratch_.path(), 5, [this](LogLevel level, std::string_view line) {
          warnings_ += level == LogLevel::warning ? std::string(line) + "\n" : "";
        }) {
    former_ = write_small(store_, 1);
    newest_ = write_small(store_, 2);
  }

  const fs::path& directory() const { return scratch_.path(); }
  const fs::path& former() const { return former_; }
  const fs::path& newest() const { return newest_; }
  const io::CheckpointStore& store() const { return store_; }
  const std::string& warnings() const { return warnings_; }

  /// Why the second one is refused ("" if it is not), after seeing that the first one is used.
  std::string refused() const {
    std::string message = refusal([&] { io::CheckpointStore::load(newest_); });
    const auto used = store_.load_newest();
    return used && used->step == 1 && small_samples(1).equal(*used) ? message : "";
  }

 private:
  Scratch scratch_{quick_directory()};
  std::string warnings_;
  io::CheckpointStore store_;
  fs::path former_;
  fs::path newest_;
};

/// Reseals a manifest that a test wrote: what accident can't do, but another program can.
void write_manifest(const fs::path& folder, const std::string& text) {
  overwrite_file(folder / "manifest.json", text);
  const std::string sums = read_file(folder / "SHA256SUMS");
  const auto line = sums.find('\n') + 1;
  const auto sum = io::sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
  overwrite_file(folder / "SHA256SUMS", sums.substr(0, line) + sum + "  manifest.json\n");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a checkpoint cut off at any length is refused", "[io]") {
  const TwoCheckpoints two;
  std::size_t accepted = 0;

  for (const fs::path& file : entries(two.newest())) {
    const std::string whole = read_file(file);
    for (std::size_t length = whole.size(); length-- > 0;) {
      fs::resize_file(file, length);
      const bool refused = !refusal([&] { io::CheckpointStore::load(two.newest()); }).empty();
      accepted += refused ? 0 : 1;
    }
    CHECK_THAT(two.refused(), ContainsSubstring(file.filename().string()));
    overwrite_file(file, whole);
  }

  CHECK(accepted == 0);
  CHECK(two.store().load_newest()->step == 2);
}

TEST_CASE("a checkpoint with bytes added to a file is refused", "[io]") {
  const TwoCheckpoints two;

  for (const fs::path& file : entries(two.newest())) {
    const std::string whole = read_file(file);
    for (const char* more : {"\n", " ", "x"}) {
      overwrite_file(file, whole + more);
      CHECK_THAT(two.refused(), ContainsSubstring(two.newest().filename().string()));
    }
    overwrite_file(file, whole);
  }
}

TEST_CASE("a checkpoint with any of 1000 flipped bits is refused", "[io]") {
  const TwoCheckpoints two;
  const std::vector<fs::path> files = entries(two.newest());
  std::mt19937_64 random(20261121);
  int accepted = 0;

  for (int trial = 0; trial < 1000; ++trial) {
    const fs::path& file = files[random() % files.size()];
    const std::string whole = read_file(file);
    std::string bent = whole;
    char& byte = bent[random() % bent.size()];
    byte = static_cast<char>(byte ^ (1 << random() % 8));
    overwrite_file(file, bent);
    accepted += two.refused().empty() ? 1 : 0;
    overwrite_file(file, whole);
  }

  CHECK(accepted == 0);
  CHECK_THAT(two.warnings(), ContainsSubstring("step-000002"));
}

TEST_CASE("a checkpoint with 8 bytes from elsewhere in it is refused", "[io]") {
  const TwoCheckpoints two;
  const std::vector<fs::path> files = entries(two.newest());
  std::mt19937_64 random(20261122);
  int accepted = 0;

  for (int trial = 0; trial < 300; ++trial) {
    const fs::path& file = files[random() % files.size()];
    const std::string whole = read_file(file);
    const std::string piece = whole.substr(random() % (whole.size() - 8), 8);
    std::string spliced = whole;
    if (random() % 2 == 0) {
      spliced.insert(random() % whole.size(), piece);
    } else {
      spliced.replace(random() % (whole.size() - 8), 8, piece);
    }
    overwrite_file(file, spliced);
    accepted += spliced != whole && two.refused().empty() ? 1 : 0;
    overwrite_file(file, whole);
  }

  CHECK(accepted == 0);
}

TEST_CASE("a checkpoint with a file missing, replaced or too many is refused", "[io]") {
  const TwoCheckpoints two;
  const std::string name = GENERATE("state.h5", "manifest.json", "SHA256SUMS");
  const fs::path file = two.newest() / name;

  SECTION("missing") {
    fs::remove(file);
    CHECK_THAT(two.refused(), ContainsSubstring(name));
  }
  SECTION("from another checkpoint") {
    fs::copy_file(two.former() / name, file, fs::copy_options::overwrite_existing);
    CHECK_FALSE(two.refused().empty());
  }
  SECTION("a directory") {
    fs::remove(file);
    fs::create_directory(file);
    CHECK_THAT(two.refused(), ContainsSubstring("not a regular file"));
  }
  SECTION("a link, even to the right bytes") {
    fs::rename(file, two.directory() / "elsewhere");
    fs::create_symlink(two.directory() / "elsewhere", file);
    CHECK_THAT(two.refused(), ContainsSubstring(name));
  }
  SECTION("a pipe, which is not waited for") {
    fs::remove(file);
    REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    CHECK_THAT(two.refused(), ContainsSubstring("not a regular file"));
  }
  SECTION("one more beside") {
    overwrite_file(two.newest() / ("copy of " + name), "");
    CHECK_THAT(two.refused(),
               ContainsSubstring("copy of " + name) && ContainsSubstring("not listed"));
  }
}

TEST_CASE("a checkpoint under another step's name is refused", "[io]") {
  const TwoCheckpoints two;
  const fs::path renamed = two.directory() / "step-000003";
  fs::rename(two.newest(), renamed);

  CHECK_THAT(refusal([&] { io::CheckpointStore::load(renamed); }), ContainsSubstring("of step 2"));
  CHECK(two.store().load_newest()->step == 1);
  fs::rename(renamed, two.directory() / "mine");
  CHECK_THAT(refusal([&] { io::CheckpointStore::load(two.directory() / "mine"); }),
             ContainsSubstring("step-"));
  CHECK_THAT(refusal([&] { io::CheckpointStore::load(two.directory() / "none"); }),
             ContainsSubstring("none"));
}

TEST_CASE("two checkpoints that changed places are both refused", "[io]") {
  const TwoCheckpoints two;
  fs::rename(two.newest(), two.directory() / "aside");
  fs::rename(two.former(), two.newest());
  fs::rename(two.directory() / "aside", two.former());

  CHECK_THAT(refusal([&] { two.store().load_newest(); }), ContainsSubstring("none of the 2"));
}

TEST_CASE("list says which checkpoints are damaged and why", "[io]") {
  const TwoCheckpoints two;
  std::string bytes = read_file(two.newest() / "state.h5");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  overwrite_file(two.newest() / "state.h5", bytes);

  const auto summaries = two.store().list();

  REQUIRE(summaries.size() == 2);
  CHECK_THAT(summaries[0].problem, ContainsSubstring("state.h5") && ContainsSubstring("SHA-256"));
  CHECK(summaries[1].problem.empty());
}

TEST_CASE("a manifest with the right check sum but wrong contents is refused", "[io]") {
  const TwoCheckpoints two;
  const std::string good = read_file(two.newest() / "manifest.json");
  struct Case {
    std::string from;
    std::string to;
  };
  const Case wrong = GENERATE(
      Case{"\"format_version\": 1", "\"format_version\": 2"},
      Case{"zygos-checkpoint", "other-checkpoint"}, Case{"\"step\": 2", "\"step\": -2"},
      Case{"\"step\": 2", "\"step\": 2.0"}, Case{"\"step\": 2", "\"step\": \"2\""},
      Case{"\"step\": 2", "\"step\": 18446744073709551615"}, Case{"\"facts\": {", "\"fact\": {"},
      Case{"\"epoch\": \"2\"", "\"epoch\": 2"}, Case{"\"dtype\": \"f32\"", "\"dtype\": \"f16\""},
      Case{"\"dtype\": \"f32\"", "\"dtype\": \"i32\""}, Case{"\"state.h5\"", "\"../state.h5\""},
      Case{"\"state.h5\"", "\"other.h5\""}, Case{"\"weights/fc1/bias\"", "\"weights/fc1/kernel\""},
      Case{"\"weights/fc1/bias\"", "\"weights/fc1/other\""},
      Case{"\"weights/fc1/bias\"", "\"weights/fc1\""}, Case{"\"weights/fc1/bias\"", "\"../bias\""},
      Case{"    3,\n", "    4,\n"}, Case{"    3,\n", "    4611686018427387904,\n"},
      Case{"    3,\n", "    -3,\n"}, Case{"    3,\n", "    1,1,1,1,1,3,\n"},
      Case{"    3,\n", "    3.5,\n"}, Case{"\"tensors\": [", "\"tensors\": [1,"},
      Case{"\"tensors\": [", "\"tensors\": [[[[[[[[[[[[]]]]]]]]]]],"}, Case{"{", ""},
      Case{"\"xxh3_64\": \"", "\"xxh3_64\": \"0"});
  CAPTURE(wrong.from, wrong.to);

  write_manifest(two.newest(), replaced(good, wrong.from, wrong.to));

  CHECK_FALSE(two.refused().empty());
}

TEST_CASE("a manifest of a tensor less than its file holds is refused", "[io]") {
  const TwoCheckpoints two;
  std::string text = read_file(two.newest() / "manifest.json");
  const auto end = text.find("  },", text.find("\"tensors\""));
  const auto begin = text.find("  {", text.find("\"tensors\""));
  text.erase(begin, end + 4 - begin);

  write_manifest(two.newest(), text);

  CHECK_THAT(two.refused(), ContainsSubstring("more"));
}

TEST_CASE("an HDF5 file made to take gigabytes, with the right check sums, is refused without them",
          "[io]") {
  const TwoCheckpoints two;
  const fs::path state = two.newest() / "state.h5";
  const std::string good = read_file(state);
  const std::string harmful =
      read_file("tests/fuzz/corpus/checkpoint_image/superblock_of_gigabytes");
  const auto bytes_of = [](const std::string& text) {
    return "\"bytes\": " + std::to_string(text.size());
  };
  const auto sum_of = [](const std::string& text) {
    return io::sha256_hex(std::as_bytes(std::span(text)));
  };
  const std::string manifest = read_file(two.newest() / "manifest.json");
  const fs::path sums = two.newest() / "SHA256SUMS";

  overwrite_file(state, harmful);
  overwrite_file(sums, replaced(read_file(sums), sum_of(good), sum_of(harmful)));
  write_manifest(two.newest(), replaced(replaced(manifest, bytes_of(good), bytes_of(harmful)),
                                        sum_of(good), sum_of(harmful)));
  const std::string message = two.refused();

  CHECK_THAT(message, ContainsSubstring("state.h5: "));
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  CHECK(used.ru_maxrss < 1'000'000);  // kB
}

TEST_CASE("a newer format is refused with the version that wrote it", "[io]") {
  const TwoCheckpoints two;
  const std::string good = read_file(two.newest() / "manifest.json");

  write_manifest(two.newest(), replaced(good, "\"format_version\": 1", "\"format_version\": 7"));

  CHECK_THAT(two.refused(), ContainsSubstring("version 7") && ContainsSubstring("reads version 1"));
}

}  // namespace zygos::test_checkpoint_damage
