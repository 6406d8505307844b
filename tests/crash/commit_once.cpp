// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One checkpoint, for sweep.py to disturb:
//   commit_once write DIR STEP [BYTES]  commits STEP (0: done, 5: I/O error, 6: no memory), with a
//                                       tensor of so many bytes
//   commit_once replace DIR STEP  the same with other contents, in the place of STEP
//   commit_once verify DIR        prints the step of the newest sound one, whose bytes must be
//   right commit_once endless DIR STEP  commits STEP, STEP + 1, ... and prints each, until it is
//   killed commit_once recover -         for each DIR that stdin names: the newest sound one, how
//   many have
//                                 wrong bytes and are called sound, whether the next commit
//                                 succeeds
// ZYGOS_FAIL_ALLOCATION=n makes the n-th allocation of "write" fail, "count" prints their number.
#include "io/checkpoint/checkpoint_reader.hpp"
#include "support/checkpoint_samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/checkpoint_store.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
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

/// The tensors of one checkpoint, with one of `bytes` bytes if that is not 0.
test::Samples samples_of(std::int64_t contents, std::int64_t bytes) {
  test::Samples samples = test::small_samples(contents);
  if (bytes > 0) {
    samples.add("weights/large", DType::u8, {bytes}, static_cast<std::uint64_t>(contents));
  }
  return samples;
}

int write(const std::string& directory, std::int64_t step, std::int64_t contents,
          std::int64_t bytes = 0) {
  const test::Samples samples = samples_of(contents, bytes);
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

/// What the bytes of a sound checkpoint are: "old", "other" or "wrong".
const char* contents_of(const io::Checkpoint& checkpoint) {
  const auto& tensors = checkpoint.tensors;
  const auto large = std::ranges::find(tensors, "weights/large", &io::StoredTensor::name);
  const std::int64_t bytes = large == tensors.end() ? 0 : large->shape.size();
  if (samples_of(checkpoint.step, bytes).equal(checkpoint)) {
    return "old";
  }
  return samples_of(checkpoint.step + other_contents, bytes).equal(checkpoint) ? "other" : "wrong";
}

int verify(const std::string& directory) {
  const auto newest = io::CheckpointStore(directory, 2).load_newest();
  if (!newest) {
    return 4;
  }
  const std::string contents = contents_of(*newest);
  std::printf("%ld %s\n", static_cast<long>(newest->step), contents.c_str());
  return contents == "wrong" ? 9 : 0;
}

/// Whether the next commit leaves nothing but sound checkpoints behind, its own the newest.
bool goes_on(const std::string& directory) {
  constexpr std::int64_t next = 7;
  write(directory, next, next);
  const auto entries = test::entries(directory);
  const auto found = io::CheckpointStore(directory, 2).list();
  return found.size() == entries.size() && found.front().step == next &&
         found.front().problem.empty();
}

std::string newest_of(const io::CheckpointStore& store) {
  try {
    const auto newest = store.load_newest();
    return newest ? std::to_string(newest->step) + " " + contents_of(*newest) : "none";
  } catch (const CheckpointError&) {
    return "damaged";
  }
}

int recover() {
  for (std::string directory; std::getline(std::cin, directory);) {
    const io::CheckpointStore store(directory, 2);
    int wrong = 0;
    for (const io::CheckpointSummary& one : store.list()) {
      wrong += one.problem.empty() &&
               contents_of(io::read_folder(one.path, one.step)) == std::string("wrong");
    }
    const std::string newest = newest_of(store);
    std::printf("%s, %d wrong, %s\n", newest.c_str(), wrong,
                goes_on(directory) ? "goes on" : "does not go on");
  }
  return 0;
}

int run(const std::string& command, const std::string& directory, std::int64_t step,
        std::int64_t bytes) {
  if (command == "verify") {
    return verify(directory);
  }
  if (command == "recover") {
    return recover();
  }
  if (command == "endless") {
    for (;; ++step) {
      write(directory, step, step);
      std::printf("%ld\n", static_cast<long>(step));
      std::fflush(stdout);
    }
  }
  return write(directory, step, command == "replace" ? step + other_contents : step, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  try {
    return run(argv[1], argv[2], argc > 3 ? std::atol(argv[3]) : 0,
               argc > 4 ? std::atol(argv[4]) : 0);
  } catch (const Error& error) {
    failing.store(-1);
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(ExitCode::memory);
  }
}
