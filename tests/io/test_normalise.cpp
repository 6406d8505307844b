// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/batching.hpp"
#include "zygos/io/normalise.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace zygos::io::test_normalise {

using Catch::Approx;

namespace {

Dataset dataset(const Shape& inputs, const std::vector<float>& values) {
  Dataset data;
  data.name = "test";
  data.inputs = make_array<float>(inputs, values);
  std::vector<double> targets;
  for (std::int64_t i = 0; i < inputs[0]; ++i) {
    targets.push_back(100.0 + 10.0 * static_cast<double>(i));
  }
  data.targets = make_array<double>(Shape{inputs[0], 1}, targets);
  return data;
}

}  // namespace

TEST_CASE("Standards of a vector are those of its elements, computed by hand") {
  const Dataset data = dataset(Shape{4, 2}, {1, 7, 2, 7, 3, 7, 4, 7});
  const Standards standard = input_standards(data, Normalisation::standard);
  CHECK(standard.shift == std::vector<double>{2.5, 7.0});
  CHECK(standard.scale[0] == Approx(std::sqrt(1.25)));
  CHECK(standard.scale[1] == 1.0);  // all are equal
  const Standards minmax = input_standards(data, Normalisation::minmax);
  CHECK(minmax.shift == std::vector<double>{1.0, 7.0});
  CHECK(minmax.scale == std::vector<double>{3.0, 1.0});
  CHECK(target_standards(data, Normalisation::minmax).shift == std::vector<double>{100.0});
  CHECK(target_standards(data, Normalisation::minmax).scale == std::vector<double>{30.0});
}

TEST_CASE("Standards of images are those of their channels, after scale and offset") {
  Dataset data = dataset(Shape{2, 2, 1, 2}, {0, 2, 10, 10, 4, 6, 10, 30});
  data.input_scale = 0.5;
  data.input_offset = 1.0;
  const Standards standards = input_standards(data, Normalisation::minmax);
  CHECK(standards.shift == std::vector<double>{1.0, 6.0});
  CHECK(standards.scale == std::vector<double>{3.0, 10.0});
}

TEST_CASE("A column of equal numbers that no float has is not divided by its rounding") {
  const Dataset data = dataset(Shape{3, 1}, {0.1F, 0.1F, 0.1F});
  CHECK(input_standards(data, Normalisation::standard).scale == std::vector<double>{1.0});
}

TEST_CASE("Gathered samples are standardised, targets too, whatever their type") {
  Dataset data = dataset(Shape{2, 2, 2}, {0, 2, 10, 20, 4, 6, 30, 50});
  data.input_standards = std::make_shared<const Standards>(Standards{{2.0, 10.0}, {2.0, 20.0}});
  data.target_standards = std::make_shared<const Standards>(Standards{{100.0}, {5.0}});
  const std::vector<std::uint32_t> ids{1, 0};
  std::vector<float> inputs(8);
  gather(data, ids, inputs.data());
  CHECK(inputs == std::vector<float>{1, 2, 1, 2, -1, 0, 0, 0.5});
  std::vector<double> targets(2);
  gather_targets(data, ids, targets.data());
  CHECK(targets == std::vector<double>{2, 0});
  std::vector<bf16> rounded(8);
  gather(rows_of(data).inputs, ids, rounded.data());
  CHECK(static_cast<float>(rounded[7]) == 0.5F);
  Rows strided = rows_of(data).inputs;
  strided.element_stride = -1;
  strided.data = data.inputs.as<float>().data() + 3;
  gather(strided, std::vector<std::uint32_t>{0}, inputs.data());
  CHECK(inputs[0] == 9.0F);   // (20 - 2) / 2
  CHECK(inputs[3] == -0.5F);  // (0 - 10) / 20
}

}  // namespace zygos::io::test_normalise
