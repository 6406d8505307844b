// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_reader.hpp"
#include "zygos/io/sample_source.hpp"

#include <algorithm>
#include <vector>

namespace zygos::fuzz {

/// As a data set in memory, as one that stays in the file, and as samples to predict from.
void fuzz_hdf5(Bytes input) {
  const auto file = file_of(input, "input.h5");
  const io::Hdf5Location inputs{file, "x"};
  const io::Hdf5Location targets{file, "y"};
  may_refuse([&] { io::load_hdf5_dataset(inputs, targets); });
  may_refuse([&] {
    const io::Dataset data = io::open_hdf5_dataset(inputs, targets);
    io::samples_in_memory(data, 0, std::min<std::int64_t>(data.size(), 8));
  });
  may_refuse([&] {
    const auto samples = io::open_samples(file, "x");
    const std::int64_t count = std::min<std::int64_t>(samples->samples(), 8);
    const std::size_t bytes = static_cast<std::size_t>(samples->sample_shape().size()) *
                              size_of(samples->dtype()) * static_cast<std::size_t>(count);
    std::vector<std::byte> out(bytes);
    samples->read(count, out.data());
  });
}

}  // namespace zygos::fuzz
