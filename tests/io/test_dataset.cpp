// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/io/dataset.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <array>

namespace zygos::test_dataset {
namespace {

using Catch::Matchers::Message;
using zygos::Shape;
using zygos::io::Dataset;
using zygos::io::make_array;

Dataset tiny() {
  const std::array<float, 6> inputs{0, 1, 2, 3, 4, 5};
  const std::array<std::int32_t, 2> labels{1, 0};
  Dataset data;
  data.name = "tiny";
  data.inputs = make_array<float>({2, 1, 3}, inputs);
  data.targets = make_array<std::int32_t>({2}, labels);
  data.classes = 2;
  return data;
}

TEST_CASE("A data set tells samples from their shape") {
  const Dataset data = tiny();

  CHECK(data.size() == 2);
  CHECK(data.sample_shape() == Shape{1, 3});
  CHECK(data.target_shape() == Shape{});
  CHECK(data.inputs.bytes() == 24);
  CHECK(Dataset{}.size() == 0);
  CHECK(Dataset{}.sample_shape() == Shape{});
}

TEST_CASE("An array is a copy of its values and knows their type") {
  std::array<float, 2> values{1.5F, 2.5F};
  const auto array = make_array<float>({2}, values);
  values[0] = 9.0F;

  CHECK(array.as<float>()[0] == 1.5F);
  CHECK_THROWS_MATCHES(array.as<double>(), zygos::UsageError,
                       Message("an array of f32 was read as f64; ask for the stored type"));
  CHECK_THROWS_MATCHES(make_array<float>({3}, values), zygos::UsageError,
                       Message("an array of shape [3] needs 3 values, got 2"));
}

TEST_CASE("A data set made by hand is checked") {
  CHECK_NOTHROW(zygos::io::check(tiny()));

  Dataset label = tiny();
  label.classes = 1;
  CHECK_THROWS_MATCHES(zygos::io::check(label), zygos::DataError,
                       Message("tiny: label 1 of sample 0; allowed are 0 to 0"));
  Dataset several = tiny();
  const std::array<std::int32_t, 4> labels{0, 1, 1, 2};
  several.targets = make_array<std::int32_t>({2, 2}, labels);
  CHECK_THROWS_MATCHES(zygos::io::check(several), zygos::DataError,
                       Message("tiny: label 2 of sample 1; allowed are 0 to 1"));
  several.classes = 3;
  CHECK_NOTHROW(zygos::io::check(several));
  const std::array<std::int32_t, 4> some{0, -1, 1, -1};
  several.targets = make_array<std::int32_t>({2, 2}, some);
  CHECK_NOTHROW(zygos::io::check(several));
  const std::array<std::int32_t, 4> none{0, 1, -1, -1};
  several.targets = make_array<std::int32_t>({2, 2}, none);
  CHECK_THROWS_MATCHES(zygos::io::check(several), zygos::DataError,
                       Message("tiny: no label of sample 1 is valid; give it one, or leave the "
                               "sample out"));
  Dataset alone = tiny();
  const std::array<std::int32_t, 2> one{0, -1};
  alone.targets = make_array<std::int32_t>({2}, one);
  CHECK_THROWS_MATCHES(zygos::io::check(alone), zygos::DataError,
                       Message("tiny: label -1 of sample 1; allowed are 0 to 1"));
  Dataset count = tiny();
  count.inputs.shape = Shape{1, 6};
  CHECK_THROWS_MATCHES(zygos::io::check(count), zygos::DataError,
                       Message("tiny: 1 inputs and 2 targets; each input needs one"));
  Dataset type = tiny();
  type.classes = 0;
  CHECK_THROWS_MATCHES(
      zygos::io::check(type), zygos::DataError,
      Message("tiny: found regression targets of type i32; allowed are f32 and f64"));
  Dataset empty = tiny();
  empty.inputs.shape = Shape{0, 3};
  CHECK_THROWS_AS(zygos::io::check(empty), zygos::DataError);
}

TEST_CASE("Targets outside of what a loss takes are named") {
  Dataset data = tiny();
  data.classes = 0;
  const std::array<double, 4> targets{0.0, 1.0, 0.25, 1.5};
  data.targets = make_array<double>({2, 2}, targets);

  CHECK_NOTHROW(zygos::io::require_targets_within(data, 0.0, 1.5, "loss 'x'"));
  CHECK_NOTHROW(zygos::io::require_targets_within(tiny(), 5.0, 6.0, "loss 'x'"));
  CHECK_THROWS_MATCHES(
      zygos::io::require_targets_within(data, 0.0, 1.0, "loss 'x'"), zygos::DataError,
      Message("tiny: found target 1.5 in element 1 of sample 1; loss 'x' takes numbers from 0 to "
              "1; scale the targets, or take another loss"));
}

TEST_CASE("Inputs that are no token ids are named") {
  Dataset data = tiny();

  CHECK_NOTHROW(zygos::io::require_tokens(data, 6, "layer 'x'"));
  CHECK_THROWS_MATCHES(
      zygos::io::require_tokens(data, 5, "layer 'x'"), zygos::DataError,
      Message("tiny: found 5 in element 2 of sample 1; layer 'x' takes token ids, whole numbers "
              "from 0 to 4; correct the data (or its scale, which is 1), or give the layer a "
              "larger vocabulary"));
  data.input_scale = 0.5;
  CHECK_THROWS_AS(zygos::io::require_tokens(data, 6, "layer 'x'"), zygos::DataError);
  data.input_scale = 1.0;
  data.input_offset = -1.0;
  CHECK_THROWS_AS(zygos::io::require_tokens(data, 6, "layer 'x'"), zygos::DataError);
}

}  // namespace

}  // namespace zygos::test_dataset
