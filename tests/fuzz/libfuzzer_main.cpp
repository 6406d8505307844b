// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// One target for libFuzzer; which one, the build says.
#include "fuzz/fuzz_target.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zygos::fuzz::ZYGOS_FUZZ_TARGET({data, size});
  return 0;
}
