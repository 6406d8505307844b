// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"

#include "zygos/io/csv_dataset.hpp"
#include "zygos/io/sample_reader.hpp"

#include <vector>

namespace zygos::fuzz {

/// As a table with labels and with numbers, and as samples to predict from.
void fuzz_csv(Bytes input) {
  const auto file = file_of(input, "input.csv");
  for (const bool labels : {true, false}) {
    may_refuse([&] { io::load_csv_dataset(file, {.labels = labels}); });
  }
  may_refuse([&] {
    const auto samples = io::open_samples(file, "");
    std::vector<std::byte> out(static_cast<std::size_t>(samples->sample_shape().size()) *
                               size_of(samples->dtype()));
    for (std::int64_t sample = 0; sample < samples->samples(); ++sample) {
      samples->read(1, out.data());
    }
  });
}

}  // namespace zygos::fuzz
