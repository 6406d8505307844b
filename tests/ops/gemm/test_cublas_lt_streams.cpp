// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that streams of cuBLASLt's front end have.
#include "ops/gemm/device/cublas_lt_gemm.hpp"
#include "ops/gemm/fake_cublas_lt.hpp"
#include "ops/gemm/lt_data.hpp"
#include "ops/gemm/lt_library.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace zygos::ops::test_cublas_lt_streams {
namespace {

using testing::FakeCublasLt;
using testing::lt_algorithm;
using testing::lt_device;
using testing::LtLibrary;
using Data = testing::LtData<float>;
using Calls = std::vector<std::string>;

}  // namespace

TEST_CASE("A stream's first product with a workspace allocates it, and later ones only multiply") {
  LtLibrary library;
  library.fake.algorithms = {lt_algorithm(1, 4096), lt_algorithm(2)};
  library.multiply(LtForm::plain);
  CHECK(library.fake.memory.empty());  // its algorithm uses none
  library.multiply(LtForm::first_transposed);
  CHECK(library.fake.count("allocate") == 1);

  library.fake.calls.clear();
  library.multiply(LtForm::first_transposed);
  library.multiply(LtForm::plain);

  CHECK(library.fake.calls == Calls{"multiply", "multiply"});  // as a capture allows
  const LtCall& with = library.fake.products[2];
  CHECK(with.workspace == library.fake.products[1].workspace);
  CHECK(library.fake.memory.at(with.workspace) == CublasLtGemm::workspace_bytes);
  CHECK(with.workspace_bytes == CublasLtGemm::workspace_bytes);
  CHECK(with.stream == &library);
  CHECK(library.fake.products[3].workspace == nullptr);
}

TEST_CASE("Streams that run at a time never share a workspace") {
  LtLibrary library;
  library.fake.algorithms = {lt_algorithm(1, 4096)};
  constexpr std::size_t count = 4;
  std::vector<Data> data(count, Data(9, 12, 5));
  {
    std::vector<std::jthread> threads;
    for (Data& own : data) {
      const LtGemm product = own.product(LtForm::first_transposed);
      threads.emplace_back([&library, &own, product] {
        for (int i = 0; i < 50; ++i) {
          library.gemm.multiply(product, &own);  // its address stands for a stream
        }
      });
    }
  }

  std::map<void*, std::set<void*>> streams_of;
  std::map<void*, std::set<void*>> workspaces_of;
  for (const LtCall& call : library.fake.products) {
    streams_of[call.workspace].insert(call.stream);
    workspaces_of[call.stream].insert(call.workspace);
  }
  REQUIRE(workspaces_of.size() == count);
  REQUIRE(streams_of.size() == count);
  for (const auto& [stream, workspaces] : workspaces_of) {
    CHECK(workspaces.size() == 1);
    CHECK(library.fake.memory.contains(*workspaces.begin()));
  }
  CHECK(library.fake.memory.size() == count);
}

TEST_CASE("Scratch memory of a stream is its own, stays, and grows by powers of two") {
  LtLibrary library;
  int other = 0;
  void* const first = library.gemm.scratch(LtScratch::weights, 1000, nullptr);

  CHECK(library.fake.memory.at(first) == 1024);
  CHECK(library.gemm.scratch(LtScratch::weights, 1024, nullptr) == first);
  CHECK(library.gemm.scratch(LtScratch::sums, 1000, nullptr) != first);
  CHECK(library.gemm.scratch(LtScratch::weights, 1000, &other) != first);
  void* const larger = library.gemm.scratch(LtScratch::weights, 1025, nullptr);
  CHECK(library.fake.memory.at(larger) == 2048);
  CHECK(library.fake.memory.contains(first));  // a captured graph may have it
  CHECK(library.gemm.scratch(LtScratch::weights, 1000, nullptr) == first);
  CHECK(library.fake.count("allocate") == 4);
  CHECK(library.fake.devices == std::set<int>{lt_device});
  library.fake.returns["allocate"] = 2;
  CHECK_THROWS_WITH(library.gemm.scratch(LtScratch::sums, 5000, nullptr),
                    "ops::gemm: cudaMalloc: error 2");
}

TEST_CASE("Handle and workspaces are made once and freed") {
  FakeCublasLt fake;
  fake.algorithms = {lt_algorithm(1, 4096)};
  {
    CublasLtGemm library(fake.table(), lt_device);
    Data data(9, 12, 5);
    for (int i = 0; i < 3; ++i) {
      library.multiply(data.product(LtForm::first_transposed), nullptr);
      library.multiply(data.product(LtForm::first_transposed), &data);
    }

    CHECK(fake.handles == 1);
    CHECK(fake.count("create") == 1);
    CHECK(fake.count("allocate") == 2);
    CHECK(fake.memory.size() == 2);
    CHECK(fake.devices == std::set<int>{lt_device});
  }

  CHECK(fake.handles == 0);
  CHECK(fake.memory.empty());
}

TEST_CASE("Threads multiply at a time") {
  LtLibrary library;
  library.fake.algorithms = {lt_algorithm(1, 4096), lt_algorithm(2)};
  constexpr std::size_t count = 4;
  std::vector<Data> data(count, Data(9, 12, 5));
  std::vector<LtGemm> products;
  for (std::size_t i = 0; i < count; ++i) {
    products.push_back(data[i].product(i % 2 == 0 ? LtForm::plain : LtForm::first_transposed));
  }
  {
    std::vector<std::jthread> threads;
    for (const LtGemm& product : products) {
      threads.emplace_back([&library, &product] {
        for (int i = 0; i < 50; ++i) {
          library.gemm.multiply(product, nullptr);
        }
      });
    }
  }

  for (std::size_t i = 0; i < count; ++i) {
    CHECK(data[i].c == data[i].expected(products[i]));
  }
  CHECK(library.fake.count("get_heuristic") == 2);
}

}  // namespace zygos::ops::test_cublas_lt_streams
