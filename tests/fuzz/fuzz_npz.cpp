// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/numpy_dataset.hpp"
#include "zygos/io/weight_file.hpp"

namespace zygos::fuzz {

/// As samples and as weights.
void fuzz_npz(Bytes input) {
  const auto file = file_of(input, "input.npz");
  may_refuse([&] { io::load_npz_dataset(file, "x", "y"); });
  may_refuse([&] { io::read_weight_file(file); });
}

}  // namespace zygos::fuzz
