// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/lane/dispatch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_dispatch {
using zygos::DType;
using zygos::lane::dispatch;
using zygos::lane::Execution;

TEST_CASE("dispatch hands over the concrete instance and returns what the function does",
          "[lane]") {
  const Execution execution = Kokkos::Serial();

  const auto name = dispatch(execution, [](const auto& exec) { return std::string(exec.name()); });

  CHECK(name == "Serial");
}

TEST_CASE("dispatch over a dtype chooses float or double and refuses others by name", "[lane]") {
  const Execution execution = Kokkos::Serial();
  std::size_t bytes = 0;
  const auto size = [&](const auto&, auto type) { bytes = sizeof(typename decltype(type)::type); };

  dispatch(execution, DType::f32, size);
  CHECK(bytes == 4);
  dispatch(execution, DType::f64, size);
  CHECK(bytes == 8);
  CHECK_THROWS_AS(dispatch(execution, DType::u8, size), zygos::UsageError);
  CHECK_THROWS_WITH(dispatch(execution, DType::u8, size),
                    Catch::Matchers::ContainsSubstring("got u8"));
}

}  // namespace zygos::test_dispatch
