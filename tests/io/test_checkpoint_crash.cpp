// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Writers that die, disks that are full: what was committed before stays whole. Children leave with
// _exit, so that they run nothing of the test framework.
#include "io/checkpoint/checkpoint_folder.hpp"
#include "io/files/file_sync.hpp"
#include "support/checkpoint_samples.hpp"
#include "support/skip.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/atomic_file.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

namespace zygos::test_checkpoint_crash {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// What a child found; its exit status.
enum Outcome : int { as_expected = 0, not_refused = 10, former_lost = 11, unfit = 12, other = 13 };

/// Runs `f` in a child process and returns its outcome.
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

[[noreturn]] void write_until_killed(const fs::path& directory, std::int64_t from) {
  try {
    io::CheckpointStore store(directory, 2);
    for (std::int64_t step = from;; ++step) {
      write_small(store, step);
    }
  } catch (...) {
    ::_exit(other);
  }
}

/// A write that has to fail with IoError (message has `expected`) beside a former one that stays.
Outcome refused_beside_former(const fs::path& directory, const Samples& big,
                              const std::string& expected) {
  io::CheckpointStore store(directory, 3);
  try {
    store.write(2, big.refs(), {});
    return not_refused;
  } catch (const IoError& error) {
    if (std::string(error.what()).find(expected) == std::string::npos) {
      return other;
    }
  }
  const auto newest = store.load_newest();
  const bool whole = newest && newest->step == 1 && small_samples(1).equal(*newest);
  return whole && entries(directory).size() == 1 ? as_expected : former_lost;
}

Samples one_big(std::int64_t bytes) {
  Samples samples;
  samples.add("weights/big", DType::u8, {bytes}, 3);
  return samples;
}

}  // namespace

TEST_CASE("a writer killed at any moment leaves a newest checkpoint that verifies", "[io]") {
  const Scratch scratch;
  const std::uint32_t seed = Catch::getSeed();  // which Catch2 prints; --rng-seed repeats it
  CAPTURE(seed);
  std::mt19937 random(seed);
  io::CheckpointStore store(scratch.path(), 2);
  write_small(store, 1);
  std::int64_t last = 1;

  for (int kill_number = 0; kill_number < 30; ++kill_number) {
    const pid_t child = ::fork();
    if (child == 0) {
      write_until_killed(scratch.path(), last + 1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 120000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));

    const auto summaries = store.list();
    const auto newest = store.load_newest();
    REQUIRE(newest.has_value());
    REQUIRE(newest->step == summaries.front().step);  // none had to be skipped
    REQUIRE(newest->step >= last);
    REQUIRE(small_samples(newest->step).equal(*newest));
    REQUIRE(newest->facts == small_facts(newest->step));
    last = newest->step;
  }

  write_small(store, last + 1);
  CHECK(entries(scratch.path()).size() == 2);  // no rest of any writer
}

TEST_CASE("a folder under construction is left alone while its writer lives", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 1);
  fs::create_directories(scratch / ".tmp-step-000001-dead/below");
  {
    const io::StagingFolder staging(scratch.path(), 5);

    write_small(store, 6);

    CHECK(fs::exists(staging.path()));
    CHECK_FALSE(fs::exists(scratch / ".tmp-step-000001-dead"));
  }
  CHECK(entries(scratch.path()).size() == 1);
}

TEST_CASE("a file that may not grow as needed is an I/O error, the former one stays", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);
  write_small(store, 1);
  const Samples big = one_big(300000);
  const auto limit = GENERATE(rlim_t{0}, rlim_t{1}, rlim_t{4096}, rlim_t{299999});

  const int outcome = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &size);
    return refused_beside_former(scratch.path(), big, "state.h5: ");
  });

  CHECK(outcome == as_expected);
}

TEST_CASE("a full disk is an I/O error with the missing bytes, the former one stays", "[io]") {
  const Scratch scratch;
  const int mebibytes = GENERATE(1, 2, 4, 8, 16);
  // Just too much, and too much by far.
  const std::int64_t bytes = (std::int64_t{mebibytes} << 20) * GENERATE(1, 3);

  const int outcome = in_child([&]() -> int {
    const std::string options = "size=" + std::to_string(mebibytes) + "m";
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, options.c_str()) != 0) {
      return unfit;
    }
    io::CheckpointStore store(scratch.path(), 3);
    write_small(store, 1);
    return refused_beside_former(scratch.path(), one_big(bytes), "no space for a checkpoint");
  });

  if (outcome == unfit) {
    test::skip_without("mount", "mounting a small file system is not permitted here");
  }
  CHECK(outcome == as_expected);
}

TEST_CASE("the bytes missing on a disk are counted", "[io]") {
  CHECK_NOTHROW(io::require_space("/runs", 100, 100));
  CHECK_THROWS_MATCHES(
      io::require_space("/runs", 100, 58), IoError,
      MessageMatches(ContainsSubstring("42 bytes missing") && ContainsSubstring("/runs")));
}

TEST_CASE("a directory that can't be written is an I/O error with its name", "[io]") {
  const Scratch scratch;
  overwrite_file(scratch / "file", "");
  fs::create_directory(scratch / "closed");
  fs::permissions(scratch / "closed", fs::perms{0555});
  fs::permissions(scratch.path(), fs::perms{0755});

  io::CheckpointStore below_file(scratch / "file/runs", 1);
  CHECK_THROWS_MATCHES(write_small(below_file, 1), IoError,
                       MessageMatches(ContainsSubstring("/file: Not a directory")));
  const int outcome = in_child([&]() -> int {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) {
      return unfit;
    }
    io::CheckpointStore store(scratch / "closed", 1);
    try {
      write_small(store, 1);
      return not_refused;
    } catch (const IoError& error) {
      return std::string(error.what()).find("closed") != std::string::npos ? as_expected : other;
    }
  });
  CHECK((outcome == as_expected || outcome == unfit));
}

TEST_CASE("a failed write of a checkpoint's step keeps the one that is there", "[io]") {
  const Scratch scratch;
  io::CheckpointStore store(scratch.path(), 3);
  write_small(store, 2);

  const int outcome = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &size);
    try {
      io::CheckpointStore(scratch.path(), 3).write(2, one_big(300000).refs(), {});
      return not_refused;
    } catch (const IoError&) {
      return as_expected;
    }
  });

  CHECK(outcome == as_expected);
  CHECK(small_samples(2).equal(*store.load_newest()));
}

TEST_CASE("where names can't be exchanged, a checkpoint is replaced in two steps", "[io]") {
  const Scratch scratch;
  const Scratch elsewhere;
  io::CheckpointStore store(scratch.path(), 3);
  io::CheckpointStore other_store(elsewhere.path(), 3);
  const fs::path old = write_small(store, 4);
  other_store.write(4, small_samples(9).refs(), {});
  fs::copy(elsewhere / "step-000004", scratch / ".tmp-fresh");

  io::replace_in_two_steps(scratch / ".tmp-fresh", old);

  CHECK(small_samples(9).equal(*store.load_newest()));
  CHECK(entries(scratch.path()).size() == 1);
  CHECK_THROWS_AS(io::replace_in_two_steps(scratch / "nothing", old), IoError);
  CHECK(small_samples(9).equal(*store.load_newest()));
}

TEST_CASE("a checkpoint that was set aside when its writer died is found and gets its name back",
          "[io]") {
  const Scratch folder;
  io::CheckpointStore store(folder.path(), 5);
  write_small(store, 3);
  const fs::path aside = folder.path() / ".old-step-000003-17-0123456789abcdef";
  fs::rename(folder.path() / "step-000003", aside);

  REQUIRE(store.list().size() == 1);
  CHECK(store.list().front().problem.empty());
  CHECK(store.load_newest()->step == 3);

  write_small(store, 4);
  CHECK_FALSE(fs::exists(aside));
  CHECK(io::CheckpointStore::load(folder.path() / "step-000003").step == 3);
}

TEST_CASE("a checkpoint that was set aside is removed where its successor is complete", "[io]") {
  const Scratch folder;
  io::CheckpointStore store(folder.path(), 5);
  write_small(store, 3);
  const fs::path aside = folder.path() / ".old-step-000003-17-0123456789abcdef";
  fs::copy(folder.path() / "step-000003", aside);

  CHECK(store.list().size() == 1);
  write_small(store, 4);

  CHECK_FALSE(fs::exists(aside));
  CHECK(store.list().size() == 2);
}

TEST_CASE("a file is replaced as a whole or not at all", "[io]") {
  const Scratch scratch;
  const fs::path file = scratch / "summary.json";

  io::write_file_atomically(file, "one");
  io::write_file_atomically(file, "two");

  CHECK(read_file(file) == "two");
  CHECK(entries(scratch.path()).size() == 1);
  const int outcome = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{2, 2};
    ::setrlimit(RLIMIT_FSIZE, &size);
    try {
      io::write_file_atomically(file, "three");
      return not_refused;
    } catch (const IoError&) {
      return as_expected;
    }
  });
  CHECK(outcome == as_expected);
  CHECK(read_file(file) == "two");
  CHECK(entries(scratch.path()).size() == 1);
  CHECK_THROWS_AS(io::write_file_atomically(scratch / "none/file", "x"), IoError);
}

}  // namespace zygos::test_checkpoint_crash
