// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/idx.hpp"

#include <array>

namespace zygos::fuzz {

/// As images beside good labels, and as labels beside good images.
void fuzz_idx(Bytes input) {
  constexpr std::array<std::uint8_t, 11> labels{0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 2};
  constexpr std::array<std::uint8_t, 18> images{0, 0, 8, 3, 0, 0, 0, 3, 0,
                                                0, 0, 1, 0, 0, 0, 1, 5, 6};
  const auto file = file_of(input, "input");
  may_refuse([&] { io::load_idx(file, file_of(labels, "labels")); });
  may_refuse([&] { io::load_idx(file_of(images, "images"), file); });
}

}  // namespace zygos::fuzz
