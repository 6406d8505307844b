// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/codec/one_bit_codec.hpp"
#include "support/kernel_case.hpp"
#include "support/random_values.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

namespace zygos::ops::test_one_bit_codec {

using testing::Buffer;
using testing::make_exec;
using testing::random_values;

namespace {

/// Plus or minus one magnitude in every block.
std::vector<double> compressed_values(std::size_t n) {
  std::vector<double> values = random_values(n, 3);
  for (std::size_t i = 0; i < n; ++i) {
    const double magnitude =
        0.25 + static_cast<double>(i / static_cast<std::size_t>(one_bit_block));
    values[i] = values[i] < 0.0 ? -magnitude : magnitude;
  }
  return values;
}

}  // namespace

TEST_CASE(
    "A message of one bit an element takes a sign for each and a magnitude for 1024 of them") {
  CHECK(one_bit_bytes(0, 4) == 0);
  CHECK(one_bit_bytes(1, 4) == 4 + 1);
  CHECK(one_bit_bytes(1024, 4) == 4 + 128);
  CHECK(one_bit_bytes(1025, 4) == 8 + 129);
  CHECK(one_bit_bytes(4096, 8) == 32 + 512);
}

TEMPLATE_LIST_TEST_CASE("Encoding in one bit an element loses nothing of compressed values", "",
                        testing::KernelCases) {
  using Exec = typename TestType::Exec;
  using T = typename TestType::T;
  const Exec exec = make_exec<Exec>();
  for (const std::size_t n : std::vector<std::size_t>{0, 1, 7, 8, 1023, 1025, 16391, 140001}) {
    const std::vector<double> given = compressed_values(n);
    const Buffer<Exec, T> x(given);
    const Buffer<Exec, T> term(random_values(n, 4));
    const Buffer<Exec, T> decoded(n);
    const Buffer<Exec, T> sum(n);
    const auto bytes =
        static_cast<std::size_t>(one_bit_bytes(static_cast<std::int64_t>(n), sizeof(T)));
    // Of elements, so that magnitudes are aligned.
    const Buffer<Exec, T> room(bytes / sizeof(T) + 1);
    auto* const begin = reinterpret_cast<std::uint8_t*>(room.vector().data());
    const VectorView<Exec, std::uint8_t> message(begin, bytes);

    encode_one_bit(exec, x.const_vector(), message);
    decode_one_bit<Exec, T>(exec, message, decoded.vector());
    add_one_bit<Exec, T>(exec, sum.vector(), term.const_vector(), message);
    exec.fence("zygos::test");

    std::vector<T> sums = term.values();
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] += static_cast<T>(given[i]);
    }
    CAPTURE(n);
    CHECK(decoded.values() == x.values());
    CHECK(sum.values() == sums);
    CHECK((decoded.guards_intact() && sum.guards_intact() && room.guards_intact()));
  }
}

}  // namespace zygos::ops::test_one_bit_codec
