// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A library of its own that knows no Kokkos: nvcc would compile these functions for the device,
// too.
#include "support/allocation_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> count{0};
std::atomic<std::size_t> all_bytes{0};

void* counted(std::size_t bytes) {
  ++count;
  all_bytes += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const block = counted(bytes)) {
    return block;
  }
  throw std::bad_alloc();
}
// Of std::stable_sort. The library's own calls the one above; AddressSanitizer's does not.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace zygos::testing {

long allocations() { return count; }
std::size_t allocated_bytes() { return all_bytes; }

}  // namespace zygos::testing
