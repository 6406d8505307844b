// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/sample_source.hpp"
#include "zygos/io/split.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace zygos::io::test_split {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Sample i is (i, i) with the target 10 i.
Dataset numbered(std::int64_t samples) {
  std::vector<float> inputs;
  std::vector<float> targets;
  for (std::int64_t i = 0; i < samples; ++i) {
    inputs.insert(inputs.end(), 2, static_cast<float>(i));
    targets.push_back(10.0F * static_cast<float>(i));
  }
  Dataset data;
  data.name = "numbered";
  data.inputs = make_array<float>(Shape{samples, 2}, inputs);
  data.targets = make_array<float>(Shape{samples, 1}, targets);
  return data;
}

/// Numbers of the samples, which have their own targets.
std::vector<int> ids_of(const Dataset& data) {
  const Dataset part = samples_in_memory(data, 0, data.size());
  std::vector<int> ids;
  for (std::int64_t i = 0; i < part.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    ids.push_back(static_cast<int>(part.inputs.as<float>()[2 * at + 1]));
    CHECK(part.targets.as<float>()[at] == 10.0F * part.inputs.as<float>()[2 * at]);
  }
  return ids;
}

}  // namespace

TEST_CASE("A split is a partition in the order of the whole, by the seed alone") {
  const Dataset data = numbered(40);
  const SplitDataset parts = split(data, 0.25, 7);
  CHECK(parts.validation.size() == 10);
  const auto validation = ids_of(parts.validation);
  auto all = ids_of(parts.training);
  CHECK(std::ranges::is_sorted(all));
  CHECK(std::ranges::is_sorted(validation));
  all.insert(all.end(), validation.begin(), validation.end());
  std::ranges::sort(all);
  std::vector<int> expected(40);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
  CHECK(ids_of(split(data, 0.25, 7).validation) == validation);
  CHECK(ids_of(split(data, 0.25, 8).validation) != validation);
}

TEST_CASE("Both parts of a split have a sample") {
  CHECK(split(numbered(3), 0.01, 1).validation.size() == 1);
  CHECK(split(numbered(3), 0.99, 1).training.size() == 1);
  CHECK_THROWS_AS(split(numbered(1), 0.5, 1), DataError);
  CHECK_THROWS_AS(split(numbered(3), 1.0, 1), UsageError);
}

TEST_CASE("Samples that stay in their file are split alike, and named by their numbers there") {
  const test::TemporaryFolder folder("split");
  const auto file = folder.path() / "set.h5";
  Dataset data = numbered(30);
  write_hdf5_dataset(file, data);
  const auto opened = [&] { return open_hdf5_dataset({file, "inputs"}, {file, "targets"}); };
  const SplitDataset from_file = split(opened(), 0.3, 5);
  const SplitDataset in_memory = split(data, 0.3, 5);
  CHECK(ids_of(from_file.validation) == ids_of(in_memory.validation));
  CHECK(ids_of(from_file.training) == ids_of(in_memory.training));

  std::vector<float> inputs(data.inputs.as<float>().begin(), data.inputs.as<float>().end());
  inputs[2 * 17] = std::nanf("");
  data.inputs = make_array<float>(data.inputs.shape, inputs);
  write_hdf5_dataset(file, data);
  const SplitDataset bad = split(opened(), 0.3, 5);
  CHECK_THROWS_MATCHES(ids_of(bad.training).size() + ids_of(bad.validation).size(), DataError,
                       MessageMatches(ContainsSubstring("of sample 17")));
}

}  // namespace zygos::io::test_split
