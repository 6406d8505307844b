// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/numpy_dataset.hpp"
#include "zygos/io/sample_reader.hpp"

#include <vector>

namespace zygos::fuzz {

/// As inputs and targets at once, and as samples to predict from.
void fuzz_npy(Bytes input) {
  const auto file = file_of(input, "input.npy");
  may_refuse([&] { io::load_npy_dataset(file, file); });
  may_refuse([&] {
    const auto samples = io::open_samples(file, "");
    if (samples->samples() > 0) {
      std::vector<std::byte> out(static_cast<std::size_t>(samples->sample_shape().size()) *
                                 size_of(samples->dtype()));
      samples->read(1, out.data());
    }
  });
}

}  // namespace zygos::fuzz
