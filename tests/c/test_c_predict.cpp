// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions through the C interface have the bits of infer::Model, however the arrays lie.
#include "c_samples.hpp"

#include <algorithm>

namespace zygos::test_c_predict {
using namespace zygos::test;

namespace {

constexpr std::int64_t count = 50;

/// A run, its model, and what infer::Model predicts of the samples.
struct Loaded {
  SavedRun run{"c-predict"};
  Session session;
  Handle model = session.load(run.folder.path());
  std::vector<double> x = samples<double>(count);
  std::vector<double> expected_y = [&] {
    infer::Model reference = load::load_model(run.folder.path());
    return expected(reference, count);
  }();
  std::vector<double> y = std::vector<double>(count * targets, -7.0);
};

/// element(i, k) = values[i * columns + k]
template <class F>
void fill(const std::vector<double>& values, std::int64_t columns, const F& element) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      element(i, k) = values[static_cast<std::size_t>(i * columns + k)];
    }
  }
}

/// The same, read.
template <class F>
std::vector<double> rows_of(std::int64_t columns, const F& element) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      values.push_back(element(i, k));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("A model loaded through C predicts the bits of infer::Model for any number of threads",
          "[c]") {
  Loaded loaded;
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t samples : {1, 7, 16, 50}) {
      infer::Model reference = load::load_model(loaded.run.folder.path());
      const Handle model =
          loaded.session.load(loaded.run.folder.path() / "checkpoints", {.threads = threads});
      CAPTURE(threads, samples);
      CHECK(predicted(model, samples) == expected(reference, samples));
    }
  }
}

TEST_CASE("The block of the options cuts batches as that of C++ does", "[c]") {
  Loaded loaded;
  infer::Model reference = load::load_model(loaded.run.folder.path(), {.block = 16});
  const Handle model = loaded.session.load(loaded.run.folder.path(), {.block = 16});
  CHECK(predicted(model, count) == expected(reference, count));
}

TEST_CASE("Column-major arrays give the same bits as row-major ones", "[c]") {
  Loaded loaded;
  std::vector<double> x(count * features);
  std::vector<double> y(count * targets);
  fill(
      loaded.x, features, [&](auto i, auto k) -> auto& { return x[std::size_t(i + k * count)]; });

  predict(loaded.model, {array_of(x.data(), {count, features}, {1, count})},
          array_of(y.data(), {count, targets}, {1, count}));

  CHECK(rows_of(targets, [&](auto i, auto k) { return y[std::size_t(i + k * count)]; }) ==
        loaded.expected_y);
}

TEST_CASE("Arrays with gaps and with strides that count down give the same bits", "[c]") {
  Loaded loaded;
  // Every second row of 20, its elements backwards in every third column; samples backwards, too.
  std::vector<double> wide(2 * count * 20, 0.0);
  double* const first = wide.data() + (count - 1) * 40 + 17;
  fill(
      loaded.x, features, [&](auto i, auto k) -> auto& { return first[-40 * i - 3 * k]; });
  std::vector<double> gaps(count * 11, -7.0);

  predict(loaded.model, {array_of(first, {count, features}, {-40, -3})},
          array_of(gaps.data() + 1, {count, targets}, {11, 4}));

  CHECK(rows_of(targets, [&](auto i, auto k) { return gaps[std::size_t(i * 11 + 4 * k + 1)]; }) ==
        loaded.expected_y);
  CHECK(std::ranges::count(gaps, -7.0) == count * (11 - targets));
}

TEST_CASE("float and double arrays are converted to what the model computes in", "[c]") {
  Loaded loaded;
  const auto x = samples<float>(count);
  std::vector<float> y(count * targets);
  predict(loaded.model, {array_of(x.data(), {count, features})},
          array_of(y.data(), {count, targets}));
  const std::vector<float> rounded(loaded.expected_y.begin(), loaded.expected_y.end());
  CHECK(y == rounded);

  const Handle single = loaded.session.load(loaded.run.folder.path(), {.precision = ZYGOS_FLOAT32});
  infer::Model reference = load::load_model(loaded.run.folder.path(), {.dtype = DType::f32});
  CHECK(predicted(single, count) == expected(reference, count));
  CHECK(predicted(single, count) != loaded.expected_y);
}

TEST_CASE("Arrays of bf16 are read and written", "[c]") {
  Loaded loaded;
  std::vector<bf16> x(loaded.x.begin(), loaded.x.end());
  const std::vector<double> rounded(x.begin(), x.end());
  std::vector<bf16> y(count * targets);
  zygos_array input = array_of(rounded.data(), {count, features});
  predict(loaded.model, {input}, array_of(loaded.y.data(), {count, targets}));
  input.data = x.data();
  input.type = ZYGOS_BFLOAT16;
  zygos_array output = array_of(y.data(), {count, targets});
  output.type = ZYGOS_BFLOAT16;

  predict(loaded.model, {input}, output);

  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(static_cast<float>(y[i]) == static_cast<float>(bf16(static_cast<float>(loaded.y[i]))));
  }
}

TEST_CASE("A sample in several arrays is one behind the other", "[c]") {
  Loaded loaded;
  std::vector<double> head(count * 2);
  std::vector<float> tail(count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(loaded.x.begin() + std::ptrdiff_t(i * features), 2,
                head.begin() + std::ptrdiff_t(2 * i));
    for (std::size_t k = 0; k < 4; ++k) {
      tail[4 * i + k] = static_cast<float>(loaded.x[i * features + 2 + k]);
    }
  }

  predict(loaded.model, {array_of(head.data(), {count, 2}), array_of(tail.data(), {count, 4})},
          array_of(loaded.y.data(), {count, targets}));

  CHECK(loaded.y == loaded.expected_y);
}

TEST_CASE("An input may be the output, and no samples are allowed", "[c]") {
  Loaded loaded;
  const zygos_array x = array_of(loaded.x.data(), {count, features});
  const zygos_array y = array_of(loaded.x.data(), {count, targets}, {features, 1});
  predict(loaded.model, {x}, y);
  CHECK(rows_of(targets, [&](auto i, auto k) { return loaded.x[std::size_t(i * 6 + k)]; }) ==
        loaded.expected_y);

  predict(loaded.model, {array_of<double>(nullptr, {0, features})},
          array_of<double>(nullptr, {0, targets}));
}

}  // namespace zygos::test_c_predict
