// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/machine.hpp"
#include "zygos/memory/bytes.hpp"

#include <Kokkos_Core.hpp>

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace zygos::lane {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t worth_a_look = std::size_t{64} << 20;

Kokkos::Tools::SpaceHandle host_space() {
  return Kokkos::Tools::make_space_handle(Kokkos::HostSpace::name());
}

void advise_huge_pages([[maybe_unused]] std::byte* block, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  // Advice only: a kernel without huge pages refuses, and nothing is lost.
  static_cast<void>(madvise(block, bytes, MADV_HUGEPAGE));
#endif
}

}  // namespace

memory::Block allocate_host(std::size_t bytes, const std::string& label) {
  const bool large = bytes >= 2 * huge_page;
  const std::align_val_t alignment{large ? huge_page : page};
  // The system grants more than there is, and ends the process when it is used.
  const bool exists = bytes < worth_a_look || bytes <= usable_memory();
  auto* const block =
      exists ? static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow)) : nullptr;
  if (block == nullptr) {
    throw MemoryError("the machine can't give " + memory::text_of_bytes(bytes) + " (" +
                      std::to_string(bytes) + " bytes) of host memory for '" + label +
                      "'; use a smaller batch or model, or set the lane's 'memory'");
  }
  if (large) {
    advise_huge_pages(block, bytes);
  }
  if (Kokkos::Tools::profileLibraryLoaded()) {
    Kokkos::Tools::allocateData(host_space(), label, block, bytes);
  }
  return {block, [=](std::byte* freed) {
            if (Kokkos::Tools::profileLibraryLoaded()) {
              Kokkos::Tools::deallocateData(host_space(), label, freed, bytes);
            }
            ::operator delete(freed, alignment);
          }};
}

void copy_host(void* to, const void* from, std::size_t bytes, const std::string& label) {
  if (bytes == 0) {
    return;
  }
  const bool observed = Kokkos::Tools::profileLibraryLoaded();
  if (observed) {
    Kokkos::Tools::beginDeepCopy(host_space(), label, to, host_space(), label, from, bytes);
  }
  std::memcpy(to, from, bytes);
  if (observed) {
    Kokkos::Tools::endDeepCopy();
  }
}

}  // namespace zygos::lane
