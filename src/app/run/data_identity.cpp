// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/data_identity.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hash.hpp"
#include "zygos/io/sample_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace zygos::app {
namespace {

std::size_t bytes_of(const io::Array& array) {
  return static_cast<std::size_t>(array.shape.size()) * size_of(array.dtype);
}

std::string fact_of(const io::Dataset& data) {
  return data.source == nullptr ? "data_xxh64" : "data_samples_xxh64";
}

}  // namespace

std::string hash_of(const io::Dataset& data) {
  constexpr std::int64_t max_read = 256;
  io::Hasher hasher;
  const auto add = [&](const io::Dataset& part) {
    for (const io::Array* array : {&part.inputs, &part.targets}) {
      hasher.add({array->data.get(), bytes_of(*array)});
    }
  };
  if (data.source == nullptr) {
    add(data);
    return hasher.hex();
  }
  const std::string shapes = data.inputs.shape.text() + data.targets.shape.text();
  hasher.add(std::as_bytes(std::span(shapes)));
  const std::int64_t samples = std::min(max_read, data.size());
  for (std::int64_t i = 0; i < samples; ++i) {
    add(io::samples_in_memory(data, i * data.size() / samples, 1));
  }
  if (data.graph.whole) {
    hasher.add(std::as_bytes(std::span(data.graph.whole->offsets)));
    hasher.add(std::as_bytes(std::span(data.graph.whole->neighbours)));
  }
  return hasher.hex();
}

void add_data_identity(const io::Dataset& training, io::Facts& facts) {
  facts[fact_of(training)] = hash_of(training);
}

void refuse_other_data(const RunSetup& setup, const io::Checkpoint& checkpoint) {
  const auto known = checkpoint.facts.find(fact_of(setup.training));
  if (known != checkpoint.facts.end() && known->second != hash_of(setup.training)) {
    throw CheckpointError(
        fmt::format("the samples of '{}' are not those that {} was trained on (their XXH64 "
                    "differs); put the old data back, or start anew with --fresh",
                    setup.training.name, checkpoint.path.string()));
  }
}

}  // namespace zygos::app
