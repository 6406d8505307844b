// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD in which an allocation by operator new fails, as on a machine without
// memory:
//   ZYGOS_FAIL_ALLOCATION=n       the n-th one since main() throws std::bad_alloc
//   ZYGOS_FAIL_ALLOCATION=count   none does; how many there were is printed on stderr at the end
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace {

using Main = int (*)(int, char**, char**);

/// Negative until main() begins: constructors of libraries can't report anything.
std::atomic<long> allocations{-1'000'000'000};
std::atomic<long> failing{0};
Main program = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  const char* wanted = std::getenv("ZYGOS_FAIL_ALLOCATION");
  const std::string_view text = wanted == nullptr ? "" : wanted;
  failing.store(wanted == nullptr ? 0 : std::atol(wanted));
  allocations.store(0);
  const int code = program(argc, argv, environment);
  if (text == "count") {
    std::fprintf(stderr, "%ld\n", allocations.load());
  }
  return code;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocations.fetch_add(1) + 1 == failing.load()) {
    throw std::bad_alloc();
  }
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)),
                       std::max<std::size_t>(bytes, 1)) != 0) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

// The array and nothrow forms of the standard library call these; its delete frees what they
// return.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

// What glibc's start-up code calls.
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*loader_fini)(), void* stack_end) {
  program = main;
  const auto start =
      reinterpret_cast<decltype(&__libc_start_main)>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}
