// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/bf16_data.hpp"
#include "ops/gemm/device/team_gemm_bf16.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/gemm/host/bf16_gemm.hpp"
#include "reference/activation.hpp"
#include "reference/gemm.hpp"
#include "support/kernel_case.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace zygos::ops::test_gemm_bf16 {
namespace {

using testing::Buffer;
using testing::make_exec;
using Extents = testing::Bf16Extents;
template <class Exec>
using Operands = testing::Bf16Operands<Exec>;
template <class Exec>
using Gradients = testing::Bf16Gradients<Exec>;
using testing::bf16_shapes;
using testing::difference_of_bf16;

/// A product is computed as its lane does, or as a device does, on a host, too: by the arithmetic
/// of threads or by matrix units.
enum class Way { own, by_threads, by_matrix_unit };
const std::vector<Way> ways{Way::own, Way::by_threads, Way::by_matrix_unit};
const std::vector<Activation> activations{Activation::none, Activation::relu, Activation::tanh};
const std::vector<Into> intos{Into::replaced, Into::added};

using testing::AllSpaces;

}  // namespace

TEMPLATE_LIST_TEST_CASE("A small product of bf16 is what a pencil says", "", AllSpaces) {
  using Exec = TestType;
  const Exec exec = make_exec<Exec>();
  const Buffer<Exec, bf16> a(std::vector<double>{1, 2, 3, 4, 5, 6});      // (2, 3)
  const Buffer<Exec, float> b(std::vector<double>{1, 0, -1, 2, 0.5, 3});  // (3, 2)
  const Buffer<Exec, float> bias(std::vector<double>{0.5, -20});
  Buffer<Exec, bf16> c(4);

  gemm<Exec, bf16>(exec, a.const_matrix(2, 3), b.const_matrix(3, 2), c.matrix(2, 2));
  exec.fence("zygos::test");
  CHECK(double{c.values()[0]} == 0.5);
  CHECK(double{c.values()[1]} == 13.0);
  CHECK(double{c.values()[2]} == 2.0);
  CHECK(double{c.values()[3]} == 28.0);

  gemm<Exec, bf16>(exec, a.const_matrix(2, 3), b.const_matrix(3, 2), c.matrix(2, 2),
                   Epilogue<Exec, bf16>{bias.const_vector(), Activation::relu});
  exec.fence("zygos::test");
  CHECK(double{c.values()[0]} == 1.0);
  CHECK(double{c.values()[1]} == 0.0);
}

TEMPLATE_LIST_TEST_CASE("Products of bf16 with bias and activation equal the reference", "",
                        AllSpaces) {
  using Exec = TestType;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : bf16_shapes) {
    for (const Way way : ways) {
      for (const Activation which : activations) {
        Operands<Exec> data(shape);
        for (std::size_t i = 0; i < data.expected.size(); ++i) {
          data.expected[i] =
              reference::activated(which, data.expected[i] + data.bias_values[i % shape.n]);
        }
        const auto a = data.a.const_matrix(shape.m, shape.k);
        const auto b = data.b.const_matrix(shape.k, shape.n);
        const auto c = data.c.matrix(shape.m, shape.n);
        const Epilogue<Exec, bf16> epilogue{data.bias.const_vector(), which};
        if (way == Way::own) {
          gemm<Exec, bf16>(exec, a, b, c, epilogue);
        } else if (way == Way::by_threads) {
          team_bf16_gemm<Exec, TiledBy::threads>(exec, a, b, c, epilogue);
        } else {
          team_bf16_gemm<Exec, TiledBy::matrix_unit>(exec, a, b, c, epilogue);
        }
        exec.fence("zygos::test");

        CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(which), static_cast<int>(way));
        CHECK(difference_of_bf16(data.c.values(), data.expected, shape.k) == "");
        CHECK(data.c.guards_intact());
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of weights are products of bf16 in float, with column sums", "",
                        AllSpaces) {
  using Exec = TestType;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : bf16_shapes) {
    for (const Way way : ways) {
      Gradients<Exec> data(shape);
      for (const Into into : intos) {
        const auto views = [&](const auto& product) {
          product(exec, data.a.const_matrix(shape.k, shape.m),
                  data.b.const_matrix(shape.k, shape.n), data.c.matrix(shape.m, shape.n),
                  data.sums.vector(), into);
        };
        if (way == Way::own) {
          views([](const auto&... all) { gemm_tn<Exec, bf16>(all...); });
        } else if (way == Way::by_threads) {
          views([](const auto&... all) { team_bf16_gemm_tn<Exec, TiledBy::threads>(all...); });
        } else {
          views([](const auto&... all) { team_bf16_gemm_tn<Exec, TiledBy::matrix_unit>(all...); });
        }
        exec.fence("zygos::test");

        CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(into), static_cast<int>(way));
        CHECK(difference_of_bf16(data.c.values(), data.expected, 2 * shape.k) == "");
        CHECK(difference_of_bf16(data.sums.values(), data.expected_sums, 2) == "");
        CHECK(data.c.guards_intact());
        CHECK(data.sums.guards_intact());
        data.expect_twice();
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Gradients of inputs are products of bf16 with transposed weights", "",
                        AllSpaces) {
  using Exec = TestType;
  const Exec exec = make_exec<Exec>();
  for (const Extents& shape : bf16_shapes) {
    for (const Way way : ways) {
      const Operands<Exec> data(shape);
      const Buffer<Exec, float> b(reference::transposed(shape.k, shape.n, data.b_values));
      const auto a = data.a.const_matrix(shape.m, shape.k);
      const auto transposed = b.const_matrix(shape.n, shape.k);
      const auto c = data.c.matrix(shape.m, shape.n);
      if (way == Way::own) {
        gemm_nt<Exec, bf16>(exec, a, transposed, c);
      } else if (way == Way::by_threads) {
        team_bf16_gemm_nt<Exec, TiledBy::threads>(exec, a, transposed, c);
      } else {
        team_bf16_gemm_nt<Exec, TiledBy::matrix_unit>(exec, a, transposed, c);
      }
      exec.fence("zygos::test");

      CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(way));
      CHECK(difference_of_bf16(data.c.values(), data.expected, shape.k) == "");
      CHECK(data.c.guards_intact());
    }
  }
}

TEST_CASE("Pairs are summed by AMX, by VDPBF16PS and by floats to the same sums") {
  for (const Extents& shape : bf16_shapes) {
    const Operands<Kokkos::Serial> data(shape);
    const auto m = static_cast<std::int64_t>(shape.m);
    const auto n = static_cast<std::int64_t>(shape.n);
    const Bf16Gemm<float> product{GemmForm::nn,
                                  m,
                                  n,
                                  static_cast<std::int64_t>(shape.k),
                                  data.a.const_vector().data(),
                                  data.b.const_vector().data()};
    const GemmTiling tiling = product.tiling();
    for (const GemmAlgorithm algorithm :
         {GemmAlgorithm::bf16_amx, GemmAlgorithm::bf16_pairs, GemmAlgorithm::bf16_widened}) {
      std::vector<float> all(shape.m * shape.n);
      for (std::int64_t i = 0; i < tiling.count(); ++i) {
        const GemmTile tile = tiling[i];
        const std::int64_t stride = Bf16Gemm<float>::padded_columns(tile.columns);
        std::vector<float> sums(static_cast<std::size_t>(tile.rows * stride), 7.0F);
        REQUIRE(static_cast<std::int64_t>(sums.size()) <= Bf16Gemm<float>::max_results);
        product.compute(tile, sums.data(), stride, false, algorithm);
        for (std::int64_t row = 0; row < tile.rows; ++row) {
          for (std::int64_t j = 0; j < tile.columns; ++j) {
            all[static_cast<std::size_t>((tile.row + row) * n + tile.column + j)] =
                sums[static_cast<std::size_t>(row * stride + j)];
          }
        }
      }
      CAPTURE(shape.m, shape.n, shape.k, static_cast<int>(algorithm));
      CHECK(difference_of_bf16(all, data.expected, 2 * shape.k) == "");
    }
  }
}

TEST_CASE("What lies behind a row of odd length does not count") {
  using Exec = Kokkos::Serial;
  const double infinite = std::numeric_limits<double>::infinity();
  const Buffer<Exec, bf16> a(std::vector<double>{1, 2, 3, infinite, 0, 0});  // (2, 3)
  const Buffer<Exec, float> b(std::vector<double>{1, 1, 1});                 // (3, 1)
  const Buffer<Exec, bf16> c(2);

  gemm<Exec, bf16>(Exec(), a.const_matrix(2, 3), b.const_matrix(3, 1), c.matrix(2, 1));

  CHECK(double{c.values()[0]} == 6.0);
  CHECK(double{c.values()[1]} == infinite);
}

TEST_CASE("Products of bf16 have the same bits for any number of threads and of rows") {
  using Exec = Kokkos::OpenMP;
  for (const Extents& shape : bf16_shapes) {
    const Operands<Exec> data(shape);
    const auto product = [&](int threads, std::size_t rows) {
      const Buffer<Exec, bf16> c(rows * shape.n);
      gemm<Exec, bf16>(make_exec<Exec>(threads), data.a.const_matrix(rows, shape.k),
                       data.b.const_matrix(shape.k, shape.n), c.matrix(rows, shape.n),
                       {data.bias.const_vector(), Activation::sigmoid});
      std::vector<std::uint16_t> bits;
      for (const bf16 value : c.values()) {
        bits.push_back(value.bits);
      }
      return bits;
    };
    const auto one = product(1, shape.m);

    CHECK(product(2, shape.m) == one);
    CHECK(product(3, shape.m) == one);
    CHECK(product(4, shape.m) == one);
    if (shape.m > 1) {
      const std::size_t rows = shape.m / 2;
      CHECK(product(1, rows) ==
            std::vector<std::uint16_t>(one.begin(),
                                       one.begin() + static_cast<std::ptrdiff_t>(rows * shape.n)));
    }
  }
}

}  // namespace zygos::ops::test_gemm_bf16
