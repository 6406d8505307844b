// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of bf16 by cuBLASLt, over a fake of it, on a host.
#include "ops/gemm/bf16_data.hpp"
#include "ops/gemm/device/lt_gemm_bf16.hpp"
#include "ops/gemm/lt_library.hpp"
#include "reference/activation.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace zygos::ops::test_lt_gemm_bf16 {
namespace {

using testing::bf16_shapes;
using testing::Buffer;
using testing::difference_of_bf16;
using testing::LtLibrary;
using testing::make_exec;
using Extents = testing::Bf16Extents;
template <class Exec>
using Operands = testing::Bf16Operands<Exec>;
/// The fake multiplies in a host's memory.
template <class Exec>
using Gradients = testing::Bf16Gradients<Exec>;
using Hosts = std::tuple<Kokkos::Serial, Kokkos::OpenMP>;
using Exec = Kokkos::Serial;

bool is_empty(const Extents& shape) { return shape.m * shape.n * shape.k == 0; }

struct Ending {
  Activation which;
  bool has_bias;
  std::size_t bytes;  ///< of sums: 2000 are a few rows
};
const std::vector<Ending> endings{{Activation::none, false, lt_sums_bytes},
                                  {Activation::none, true, 2000},
                                  {Activation::relu, false, 2000},
                                  {Activation::tanh, true, lt_sums_bytes}};

/// A product with every operand that an epilogue may have.
struct Small {
  LtLibrary library;
  LtStream on{&library.gemm, &library};
  Buffer<Exec, bf16> a{std::vector<double>{1, 2, 3, 4, 5, 6}};      // (2, 3)
  Buffer<Exec, float> b{std::vector<double>{1, 0, -1, 2, 0.5, 3}};  // (3, 2)
  Buffer<Exec, float> bias{std::vector<double>{0.5, -20}};
  Buffer<Exec, bf16> c{std::vector<double>(4, 7.0)};

  bool multiply(const Epilogue<Exec, bf16>& epilogue = {}) {
    return lt_bf16_gemm<Exec>(Exec(), on, a.const_matrix(2, 3), b.const_matrix(3, 2),
                              c.matrix(2, 2), epilogue);
  }
  bool multiply_transposed() {
    return lt_bf16_gemm_nt<Exec>(Exec(), on, a.const_matrix(2, 3), b.const_matrix(2, 3),
                                 c.matrix(2, 2));
  }
  std::vector<double> results() const {
    const auto values = c.values();
    return {values.begin(), values.end()};
  }
};

}  // namespace

TEST_CASE("A small product of bf16 by the library is what a pencil says") {
  Small small;

  CHECK(small.multiply());
  CHECK(small.results() == std::vector<double>{0.5, 13, 2, 28});
  CHECK(small.multiply({small.bias.const_vector(), Activation::relu}));
  CHECK(small.results() == std::vector<double>{1, 0, 2.5, 8});
  CHECK(small.multiply_transposed());
  CHECK(small.results() == std::vector<double>{-2, 12, -2, 28.5});
}

TEST_CASE("A bias of floats is the library's with sums of floats, which are rounded once") {
  LtLibrary library;
  const Buffer<Exec, bf16> a(std::vector<double>{16, 1});          // (1, 2)
  const Buffer<Exec, float> b(std::vector<double>{16, 16, 1, 3});  // (2, 2)
  const Buffer<Exec, float> bias(std::vector<double>{0.5, -0.5});
  const Buffer<Exec, bf16> c(2);
  const LtStream on{&library.gemm, nullptr};

  lt_bf16_gemm<Exec>(Exec(), on, a.const_matrix(1, 2), b.const_matrix(2, 2), c.matrix(1, 2),
                     {bias.const_vector(), Activation::none});

  // 257.5 and 258.5; had the sums been rounded before, 256 and 260.
  CHECK(float{c.values()[0]} == 258.0F);
  CHECK(float{c.values()[1]} == 258.0F);
  const LtProduct& product = library.fake.products.back().product;
  CHECK(product.type == LtType::bf16);
  CHECK(product.result == LtType::f32);
  CHECK(product.compute == LtCompute::f32);
  CHECK(product.epilogue == LtEpilogue::bias);
}

TEMPLATE_LIST_TEST_CASE("Products of bf16 by the library with bias and activation", "", Hosts) {
  using Space = TestType;
  const Space exec = make_exec<Space>();
  LtLibrary library;
  const LtStream on{&library.gemm, nullptr};
  for (const Extents& shape : bf16_shapes) {
    for (const auto& [which, has_bias, bytes] : endings) {
      Operands<Space> data(shape);
      for (std::size_t i = 0; i < data.expected.size(); ++i) {
        const double bias = has_bias ? data.bias_values[i % shape.n] : 0.0;
        data.expected[i] = reference::activated(which, data.expected[i] + bias);
      }
      Epilogue<Space, bf16> epilogue{{}, which};
      if (has_bias) {
        epilogue.bias = data.bias.const_vector();
      }

      const bool done = lt_bf16_gemm<Space>(exec, on, data.a.const_matrix(shape.m, shape.k),
                                            data.b.const_matrix(shape.k, shape.n),
                                            data.c.matrix(shape.m, shape.n), epilogue, bytes);
      exec.fence("zygos::test");

      CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(which), has_bias, bytes);
      CHECK(done == !is_empty(shape));
      CHECK((!done || difference_of_bf16(data.c.values(), data.expected, shape.k) == ""));
      CHECK(data.c.guards_intact());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of inputs of bf16 by the library", "", Hosts) {
  using Space = TestType;
  const Space exec = make_exec<Space>();
  LtLibrary library;
  const LtStream on{&library.gemm, nullptr};
  for (const Extents& shape : bf16_shapes) {
    const Operands<Space> data(shape);
    const Buffer<Space, float> b(reference::transposed(shape.k, shape.n, data.b_values));

    const bool done =
        lt_bf16_gemm_nt<Space>(exec, on, data.a.const_matrix(shape.m, shape.k),
                               b.const_matrix(shape.n, shape.k), data.c.matrix(shape.m, shape.n));
    exec.fence("zygos::test");

    CAPTURE(shape.m, shape.n, shape.k);
    CHECK(done == !is_empty(shape));
    CHECK((!done || difference_of_bf16(data.c.values(), data.expected, shape.k) == ""));
    CHECK(data.c.guards_intact());
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of weights of bf16 by the library, with column sums", "",
                        Hosts) {
  using Space = TestType;
  const Space exec = make_exec<Space>();
  LtLibrary library;
  const LtStream on{&library.gemm, nullptr};
  for (const Extents& shape : bf16_shapes) {
    Gradients<Space> data(shape);
    for (const Into into : {Into::replaced, Into::added}) {
      const bool done = lt_bf16_gemm_tn<Space>(
          exec, on, data.a.const_matrix(shape.k, shape.m), data.b.const_matrix(shape.k, shape.n),
          data.c.matrix(shape.m, shape.n), data.sums.vector(), into);
      exec.fence("zygos::test");

      CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(into));
      if (shape.k == 0 && into == Into::replaced) {
        CHECK(!done);
        break;  // nothing was written: left to our own kernel
      }
      CHECK(done);
      CHECK(difference_of_bf16(data.c.values(), data.expected, 2 * shape.k) == "");
      CHECK(difference_of_bf16(data.sums.values(), data.expected_sums, 2) == "");
      CHECK((data.c.guards_intact() && data.sums.guards_intact()));
      data.expect_twice();
    }
  }
}

TEST_CASE("Parts of rows are whole tiles of about one size, within their memory") {
  constexpr std::size_t bytes = lt_sums_bytes;  // 8388608 floats
  CHECK(detail::rows_of_part(1, 1, bytes) == 1);
  CHECK(detail::rows_of_part(8192, 1024, bytes) == 8192);
  CHECK(detail::rows_of_part(8193, 1024, bytes) == 4224);
  CHECK(detail::rows_of_part(20000, 4096, bytes) == 2048);
  CHECK(detail::rows_of_part(1000, 100000, bytes) == 83);
  CHECK(detail::rows_of_part(1000, 10000000, bytes) == 1);
}

TEST_CASE("Parts of a product take the memory of one") {
  LtLibrary library;
  const Extents shape{33, 35, 37};
  const Operands<Exec> data(shape);

  CHECK(lt_bf16_gemm<Exec>(Exec(), {&library.gemm, nullptr}, data.a.const_matrix(33, 37),
                           data.b.const_matrix(37, 35), data.c.matrix(33, 35),
                           {data.bias.const_vector(), Activation::relu}, 1400));

  std::vector<std::uint64_t> rows;
  for (const LtCall& call : library.fake.products) {
    rows.push_back(call.product.d.columns);
    CHECK(call.d == library.fake.products.front().d);
  }
  CHECK(rows == std::vector<std::uint64_t>{10, 10, 10, 3});
  CHECK(library.fake.memory.at(library.fake.products.front().d) == 2048);
}

TEST_CASE("Without an algorithm for bf16 nothing is written") {
  Small small;
  small.library.fake.has_bf16 = false;
  const Buffer<Exec, float> gradient(std::vector<double>(9, 7.0));

  CHECK(!small.multiply());
  CHECK(!small.multiply({small.bias.const_vector(), Activation::none}));
  CHECK(!small.multiply_transposed());
  CHECK(!lt_bf16_gemm_tn<Exec>(Exec(), small.on, small.a.const_matrix(2, 3),
                               small.a.const_matrix(2, 3), gradient.matrix(3, 3), {},
                               Into::replaced));

  CHECK(small.results() == std::vector<double>(4, 7.0));
  CHECK(gradient.values() == std::vector<float>(9, 7.0F));
  CHECK(small.library.fake.count("multiply") == 0);
}

TEST_CASE("What fails in a product of bf16 is named") {
  for (const char* const function : {"allocate", "get_heuristic", "multiply"}) {
    Small small;
    small.library.fake.returns[function] = 14;

    CAPTURE(function);
    CHECK_THROWS_AS(small.multiply(), InternalError);
    CHECK_THROWS_AS(small.multiply({small.bias.const_vector(), Activation::none}), InternalError);
    CHECK_THROWS_AS(small.multiply_transposed(), InternalError);
  }
  Small small;
  const MatrixView<Exec, const float> other = small.b.const_matrix(2, 3);
  CHECK_THROWS_WITH(lt_bf16_gemm<Exec>(Exec(), small.on, small.a.const_matrix(2, 3), other,
                                       small.c.matrix(2, 2), {}),
                    Catch::Matchers::ContainsSubstring("dimensions do not fit"));
}

TEST_CASE("A second product allocates nothing and has the same bits") {
  Small small;
  CHECK(small.multiply({small.bias.const_vector(), Activation::tanh}));
  CHECK(small.multiply_transposed());
  const auto first = small.results();
  const int allocated = small.library.fake.count("allocate");

  CHECK(small.multiply({small.bias.const_vector(), Activation::tanh}));
  CHECK(small.multiply_transposed());

  CHECK(small.library.fake.count("allocate") == allocated);
  CHECK(small.results() == first);
}

}  // namespace zygos::ops::test_lt_gemm_bf16
