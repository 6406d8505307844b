// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/tensor/tensor.hpp"
#include "zygos/tensor/views.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <array>

namespace zygos::test_tensor {
using Catch::Matchers::ContainsSubstring;
using zygos::DType;
using zygos::Shape;
using zygos::Tensor;

TEST_CASE("a default tensor means not wanted", "[tensor]") {
  const Tensor none;

  CHECK_FALSE(static_cast<bool>(none));
  CHECK(none.size() == 0);
  CHECK(none.bytes() == 0);
  CHECK(none.data<double>() == nullptr);
}

TEST_CASE("a tensor gives its memory only as the type it holds", "[tensor]") {
  std::array<float, 6> values{0, 1, 2, 3, 4, 5};

  const Tensor tensor(values.data(), DType::f32, {2, 3});

  CHECK(tensor.size() == 6);
  CHECK(tensor.bytes() == 24);
  CHECK(tensor.data<float>()[5] == 5.0F);
  CHECK(tensor.data<const float>() == values.data());
  CHECK_THROWS_AS(tensor.data<double>(), zygos::InternalError);
}

TEST_CASE("the first samples of a tensor keep its address and sample shape", "[tensor]") {
  std::array<float, 12> values{};
  const Tensor tensor(values.data(), DType::f32, {3, 2, 2});

  CHECK(tensor.first(2).shape() == Shape{2, 2, 2});
  CHECK(tensor.first(2).raw() == tensor.raw());
  CHECK(tensor.first(0).size() == 0);
  CHECK(tensor.first(3).shape() == tensor.shape());
  CHECK_THROWS_WITH(tensor.first(4),
                    ContainsSubstring("4 samples from 0 on") && ContainsSubstring("[3, 2, 2]"));
  CHECK_THROWS_AS(tensor.first(-1), zygos::InternalError);
  CHECK_THROWS_AS(Tensor(values.data(), DType::f32, {}).first(1), zygos::InternalError);
}

TEST_CASE("later samples of a tensor begin behind those before them", "[tensor]") {
  std::array<double, 12> values{};
  const Tensor tensor(values.data(), DType::f64, {3, 2, 2});

  CHECK(tensor.samples(1, 2).shape() == Shape{2, 2, 2});
  CHECK(tensor.samples(1, 2).data<double>() == values.data() + 4);
  CHECK(tensor.samples(3, 0).size() == 0);
  CHECK_THROWS_WITH(tensor.samples(2, 2), ContainsSubstring("2 samples from 2 on"));
  CHECK_THROWS_AS(tensor.samples(-1, 1), zygos::InternalError);
}

TEST_CASE("a reshaped tensor has the same elements and refuses another count", "[tensor]") {
  std::array<double, 6> values{};
  const Tensor tensor(values.data(), DType::f64, {2, 3});

  CHECK(tensor.reshaped({6}).shape() == Shape{6});
  CHECK(tensor.reshaped({6}).raw() == values.data());
  CHECK_THROWS_WITH(tensor.reshaped({5}), ContainsSubstring("[2, 3]") && ContainsSubstring("[5]"));
}

TEST_CASE("as a matrix everything after the samples is flattened", "[tensor]") {
  CHECK(zygos::as_matrix({4, 3, 2}).rows == 4);
  CHECK(zygos::as_matrix({4, 3, 2}).columns == 6);
  CHECK(zygos::as_matrix({4}).columns == 1);
  CHECK_THROWS_AS(zygos::as_matrix({}), zygos::InternalError);
}

TEST_CASE("views of a tensor are unmanaged windows onto its memory", "[tensor]") {
  std::array<float, 12> values{};
  const Tensor tensor(values.data(), DType::f32, {2, 3, 2});

  const auto vector = zygos::vector_view<Kokkos::Serial, float>(tensor);
  const auto matrix = zygos::matrix_view<Kokkos::Serial, const float>(tensor);
  vector(7) = 9.0F;

  CHECK(vector.extent(0) == 12);
  CHECK(matrix.extent(0) == 2);
  CHECK(matrix.extent(1) == 6);
  CHECK(matrix(1, 1) == 9.0F);
}

}  // namespace zygos::test_tensor
