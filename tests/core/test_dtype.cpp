// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/dtype.hpp"
#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_dtype {
using zygos::DType;

TEST_CASE("every dtype has a size and a name that leads back to it", "[core]") {
  for (const DType dtype : {DType::u8, DType::i32, DType::i64, DType::u32, DType::u64, DType::f32,
                            DType::f64, DType::bf16}) {
    CHECK(zygos::dtype_from_name(zygos::name_of(dtype)) == dtype);
  }
  CHECK(zygos::size_of(DType::u8) == 1);
  CHECK(zygos::size_of(zygos::dtype_of<float>) == sizeof(float));
  CHECK(zygos::size_of(zygos::dtype_of<double>) == sizeof(double));
  CHECK(zygos::size_of(zygos::dtype_of<std::int64_t>) == sizeof(std::int64_t));
  CHECK(zygos::size_of(zygos::dtype_of<zygos::bf16>) == 2);
}

TEST_CASE("parameters beside activations of bf16 are floats, others have their type", "[core]") {
  CHECK(zygos::wide(DType::bf16) == DType::f32);
  CHECK(zygos::wide(DType::f32) == DType::f32);
  CHECK(zygos::wide(DType::f64) == DType::f64);
}

TEST_CASE("an unknown dtype name is refused with the names there are", "[core]") {
  CHECK_THROWS_AS(zygos::dtype_from_name("f16"), zygos::UsageError);
  CHECK_THROWS_WITH(zygos::dtype_from_name("f16"),
                    Catch::Matchers::ContainsSubstring("'f16'") &&
                        Catch::Matchers::ContainsSubstring("f32, f64"));
}

}  // namespace zygos::test_dtype
