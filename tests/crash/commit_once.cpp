// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One checkpoint, for sweep.py to disturb:
//   commit_once write DIR STEP    commits STEP (0: done, 5: I/O error, 6: no memory)
//   commit_once replace DIR STEP  the same with other contents, in the place of STEP
//   commit_once verify DIR        prints the step of the newest sound one, whose bytes must be
//   right commit_once endless DIR STEP  commits STEP, STEP + 1, ... and prints each, until it is
//   killed
// ZYGOS_FAIL_ALLOCATION=n makes the n-th allocation of "write" fail, "count" prints their number.
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace {

std::atomic<long> allocations{0};
std::atomic<long> failing{-1};

void* allocate(std::size_t bytes) {
  if (allocations.fetch_add(1) + 1 == failing.load()) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace zygos;

/// What `replace` writes.
constexpr std::int64_t other_contents = 1000;

int write(const std::string& directory, std::int64_t step, std::int64_t contents) {
  const test::Samples samples = test::small_samples(contents);
  io::CheckpointStore store(directory, 2);
  const char* nth = std::getenv("ZYGOS_FAIL_ALLOCATION");
  const long before = allocations.load();
  if (nth != nullptr && std::strcmp(nth, "count") != 0) {
    failing.store(before + std::atol(nth));
  }
  store.write(step, samples.refs(), test::small_facts(step));
  failing.store(-1);
  if (nth != nullptr) {
    std::printf("%ld\n", allocations.load() - before);
  }
  return 0;
}

int verify(const std::string& directory) {
  const auto newest = io::CheckpointStore(directory, 2).load_newest();
  if (!newest) {
    return 4;
  }
  const bool old = test::small_samples(newest->step).equal(*newest);
  const bool other = test::small_samples(newest->step + other_contents).equal(*newest);
  std::printf("%ld %s\n", static_cast<long>(newest->step), old ? "old" : "other");
  return old || other ? 0 : 9;
}

int run(const std::string& command, const std::string& directory, std::int64_t step) {
  if (command == "verify") {
    return verify(directory);
  }
  if (command == "endless") {
    for (;; ++step) {
      write(directory, step, step);
      std::printf("%ld\n", static_cast<long>(step));
      std::fflush(stdout);
    }
  }
  return write(directory, step, command == "replace" ? step + other_contents : step);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  try {
    return run(argv[1], argv[2], argc > 3 ? std::atol(argv[3]) : 0);
  } catch (const Error& error) {
    failing.store(-1);
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(ExitCode::memory);
  }
}
