// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/child_process.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

using namespace zygos;
using Catch::Matchers::StartsWith;

TEST_CASE("What returns or throws in a child process has no fault and changes nothing here",
          "[io]") {
  int here = 1;

  CHECK(io::fault_in_child([&] { here = 2; }).empty());
  CHECK(io::fault_in_child([] { throw std::runtime_error("refused"); }).empty());

  CHECK(here == 1);
}

TEST_CASE("A crash in a child process is told, whatever handlers this one has", "[io]") {
  ::signal(SIGSEGV, [](int) { ::_exit(0); });

  const std::string fault = io::fault_in_child([] { ::raise(SIGSEGV); });

  ::signal(SIGSEGV, SIG_DFL);
  CHECK_THAT(fault, StartsWith("crashes"));
  CHECK_THAT(io::fault_in_child([] { std::abort(); }), StartsWith("crashes"));
}

TEST_CASE("A child process may take some time and memory, not more", "[io]") {
  std::atomic<bool> forever{true};
  const auto loop = [&] {
    while (forever) {
    }
  };

  CHECK(io::fault_in_child(loop, {.cpu_s = 1}) == "does not end within 1 s of processor time");
  CHECK(io::fault_in_child([] { ::sleep(60); }, {.wall_s = 1}).empty());
  const auto take = [] {
    void* memory =
        ::mmap(nullptr, std::size_t{3} << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::abort();
    }
  };
  CHECK(io::fault_in_child(take, {.memory = std::size_t{8} << 20}).empty());
  CHECK_THAT(io::fault_in_child(take, {.memory = std::size_t{1} << 20}), StartsWith("crashes"));
}

TEST_CASE("A data file on which HDF5 1.10 crashes is refused", "[io]") {
  const io::Hdf5Location inputs{"tests/fuzz/corpus/hdf5/crash_in_local_heap", "x"};
  const io::Hdf5Location targets{inputs.file, "y"};

  CHECK_THROWS_AS(io::load_hdf5_dataset(inputs, targets), DataError);
}
