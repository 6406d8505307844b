// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/codec/bf16_codec.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

namespace zygos::ops::test_bf16_codec {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;
using testing::rounded;

TEMPLATE_LIST_TEST_CASE("What travels as bf16 is rounded to nearest even, and added as it arrives",
                        "", testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 33, 16384, 70001}) {
    const auto given = rounded<T>(random_values(n, 1));
    const auto term = rounded<T>(random_values(n, 2));
    const Buffer<Exec, T> x(given);
    const Buffer<Exec, T> a(term);
    const Buffer<Exec, T> decoded(n);
    const Buffer<Exec, T> sum(n);
    const Buffer<Exec, bf16> message(n);
    const Buffer<Exec, bf16> in_place(n);

    encode_bf16(exec, x.const_vector(), message.vector());
    decode_bf16(exec, message.const_vector(), decoded.vector());
    add_bf16(exec, sum.vector(), a.const_vector(), message.const_vector());
    round_to_bf16(exec, x.vector(), in_place.vector());
    exec.fence("zygos::test");

    std::vector<T> expected;
    std::vector<T> sums;
    for (std::size_t i = 0; i < n; ++i) {
      expected.push_back(static_cast<T>(static_cast<float>(bf16(given[i]))));
      sums.push_back(static_cast<T>(term[i]) + expected.back());
    }
    CAPTURE(n);
    CHECK(decoded.values() == expected);
    CHECK(x.values() == expected);
    CHECK(sum.values() == sums);
    CHECK((decoded.guards_intact() && sum.guards_intact() && message.guards_intact()));
  }
}

}  // namespace zygos::ops::test_bf16_codec
