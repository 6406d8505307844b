// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/insitu/state.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::test_state {
using insitu::from_bytes;
using insitu::to_bytes;

namespace {

insitu::State small_state() {
  insitu::State state;
  state.tensors.push_back(
      {"weights/a", DType::f32, Shape{1, 2}, std::vector<std::byte>(8, std::byte{7})});
  state.tensors.push_back({"scalar", DType::i64, Shape{}, std::vector<std::byte>(8, std::byte{1})});
  state.tensors.push_back({"none", DType::f64, Shape{0, 3}, {}});
  return state;
}

}  // namespace

TEST_CASE("A state comes back from a byte buffer as it was", "[insitu]") {
  const insitu::State state = small_state();

  const insitu::State read = from_bytes(to_bytes(state));

  REQUIRE(read.tensors.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(read.tensors[i].name == state.tensors[i].name);
    CHECK(read.tensors[i].dtype == state.tensors[i].dtype);
    CHECK(read.tensors[i].shape == state.tensors[i].shape);
    CHECK(read.tensors[i].bytes == state.tensors[i].bytes);
  }
}

TEST_CASE("A buffer that is cut off anywhere is refused", "[insitu]") {
  const auto bytes = to_bytes(small_state());

  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(from_bytes(std::span(bytes).first(length)), CheckpointError);
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_THROWS_AS(from_bytes(longer), CheckpointError);
}

TEST_CASE("No byte of a damaged buffer makes reading it fail otherwise than with an error",
          "[insitu]") {
  const auto bytes = to_bytes(small_state());

  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = std::byte{0xFF};
    try {
      from_bytes(damaged);
    } catch (const CheckpointError&) {
    }
  }

  SUCCEED();
}

TEST_CASE("A tensor of another name, type or shape is not found", "[insitu]") {
  const insitu::State state = small_state();

  CHECK(state.tensor("weights/a", DType::f32, Shape{1, 2}).bytes.size() == 8);
  CHECK_THROWS_AS(state.tensor("weights/b", DType::f32, Shape{1, 2}), CheckpointError);
  CHECK_THROWS_AS(state.tensor("weights/a", DType::f64, Shape{1, 2}), CheckpointError);
  CHECK_THROWS_AS(state.tensor("weights/a", DType::f32, Shape{2}), CheckpointError);
}

}  // namespace zygos::test_state
