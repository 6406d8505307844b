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
#include <functional>
#include <stdexcept>
#include <string>

namespace zygos::test_child_process {
using Catch::Matchers::StartsWith;

namespace {

std::string fault_of(const std::function<void()>& work, const io::ChildLimits& limits = {}) {
  const auto silently = [&] {
    work();
    return std::string();
  };
  return io::run_in_child(silently, limits).fault;
}

}  // namespace

TEST_CASE("What returns or throws in a child process has no fault and changes nothing here",
          "[io]") {
  int here = 1;

  const auto outcome = io::run_in_child([&] {
    here = 2;
    return std::string(10'000, 'a');
  });

  CHECK(outcome.fault.empty());
  CHECK(outcome.said == std::string(10'000, 'a'));
  CHECK(fault_of([] { throw std::runtime_error("refused"); }).empty());

  CHECK(here == 1);
}

TEST_CASE("A crash in a child process is told, whatever handlers this one has", "[io]") {
  ::signal(SIGSEGV, [](int) { ::_exit(0); });

  const std::string fault = fault_of([] { ::raise(SIGSEGV); });

  ::signal(SIGSEGV, SIG_DFL);
  CHECK_THAT(fault, StartsWith("crashes"));
  CHECK_THAT(fault_of([] { std::abort(); }), StartsWith("crashes"));
}

TEST_CASE("A child process may take some time and memory, not more", "[io]") {
  std::atomic<bool> forever{true};
  const auto loop = [&] {
    while (forever) {
    }
  };

  CHECK(fault_of(loop, {.cpu_s = 1}) == "does not end within 1 s of processor time");
  CHECK(fault_of([] { ::sleep(60); }, {.wall_s = 1}).empty());
  const auto take = [] {
    void* memory =
        ::mmap(nullptr, std::size_t{3} << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::abort();
    }
  };
  CHECK(fault_of(take, {.memory = std::size_t{8} << 20}).empty());
  CHECK_THAT(fault_of(take, {.memory = std::size_t{1} << 20}), StartsWith("crashes"));
}

TEST_CASE("A data file on which HDF5 1.10 crashes is refused", "[io]") {
  const io::Hdf5Location inputs{"tests/fuzz/corpus/hdf5/crash_in_local_heap", "x"};
  const io::Hdf5Location targets{inputs.file, "y"};

  CHECK_THROWS_AS(io::load_hdf5_dataset(inputs, targets), DataError);
}

}  // namespace zygos::test_child_process
