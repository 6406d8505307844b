// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/memory/bytes.hpp"

#include <catch2/catch_test_macros.hpp>

namespace zygos::test_bytes {
using zygos::memory::text_of_bytes;

TEST_CASE("bytes are printed in the unit people think in", "[memory]") {
  CHECK(text_of_bytes(0) == "0 B");
  CHECK(text_of_bytes(1023) == "1023 B");
  CHECK(text_of_bytes(1024) == "1.0 KiB");
  CHECK(text_of_bytes(1536) == "1.5 KiB");
  CHECK(text_of_bytes(std::size_t{64} << 20) == "64.0 MiB");
  CHECK(text_of_bytes(std::size_t{9} << 28) == "2.25 GiB");
  CHECK(text_of_bytes(std::size_t{3} << 50) == "3.00 PiB");
}

}  // namespace zygos::test_bytes
