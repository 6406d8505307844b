// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions of models of ONNX against the same computed here in double.
#include "onnx_file.hpp"
#include "support/temporary_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace zygos::test_onnx_predictions {
using namespace zygos::test;
using Numbers = std::vector<double>;

namespace {

/// Numbers in [-1, 1] that follow no pattern of a layer.
Numbers waves(std::size_t count, double phase) {
  Numbers numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  }
  return numbers;
}

/// Of one sample.
void check_predicts(const OnnxModel& model, const Numbers& sample, const Numbers& expected) {
  const test::TemporaryFolder folder("onnx-predictions");
  const std::filesystem::path file = folder.path() / "model.onnx";
  write_onnx(model, file);
  const auto found =
      predicted(load::import_model(file), std::vector<float>(sample.begin(), sample.end()), 1);
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK_THAT(found[i], Catch::Matchers::WithinAbs(expected[i], 2e-5));
  }
}

/// (rows, inner) times (inner, columns), plus the bias.
Numbers product(const Numbers& a, const Numbers& b, std::size_t inner, const Numbers& bias = {}) {
  const std::size_t rows = a.size() / inner;
  const std::size_t columns = b.size() / inner;
  Numbers out(rows * columns, 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      double sum = bias.empty() ? 0.0 : bias[column];
      for (std::size_t i = 0; i < inner; ++i) {
        sum += a[row * inner + i] * b[i * columns + column];
      }
      out[row * columns + column] = sum;
    }
  }
  return out;
}

/// Of (length, units), head by head.
Numbers attention(const Numbers& q, const Numbers& k, const Numbers& v, std::size_t units,
                  std::size_t heads, double scale, bool causal) {
  const std::size_t length = q.size() / units;
  const std::size_t width = units / heads;
  Numbers out(q.size(), 0.0);
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t query = 0; query < length; ++query) {
      const std::size_t seen = causal ? query + 1 : length;
      Numbers weights(seen);
      double sum = 0.0;
      for (std::size_t key = 0; key < seen; ++key) {
        double score = 0.0;
        for (std::size_t i = head * width; i < (head + 1) * width; ++i) {
          score += q[query * units + i] * k[key * units + i];
        }
        weights[key] = std::exp(score * scale);
        sum += weights[key];
      }
      for (std::size_t i = head * width; i < (head + 1) * width; ++i) {
        for (std::size_t key = 0; key < seen; ++key) {
          out[query * units + i] += weights[key] / sum * v[key * units + i];
        }
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("Attention of products of its own for queries, keys and values, with another scale") {
  const bool causal = GENERATE(true, false);
  constexpr std::size_t length = 3;
  constexpr std::size_t inputs = 5;
  constexpr std::size_t units = 4;
  constexpr double scale = 1.25;
  const Numbers x = waves(length * inputs, 0.3);
  OnnxModel model(Shape{length, inputs});
  model.integers("heads", {0, 3, 2, 2}).integers("flat", {0, 3, 4}).scalar("scale", scale);
  std::vector<Numbers> parts;
  for (const std::string part : {"q", "k", "v"}) {
    const Numbers weight = waves(inputs * units, static_cast<double>(part.front()));
    const Numbers bias = waves(units, static_cast<double>(part.front()) + 0.5);
    parts.push_back(product(x, weight, inputs, bias));
    model.constant(part + ".weight", Shape{inputs, units}, weight);
    model.constant(part + ".bias", Shape{units}, bias);
    model.add("MatMul", {"x", part + ".weight"}, {part + "m"});
    model.add("Add", {part + "m", part + ".bias"}, {part});
    model.add("Reshape", {part, "heads"}, {part + "r"});
    model.add("Transpose", {part + "r"}, {part + "h"},
              {{"perm", part == "k" ? Integers{0, 2, 3, 1} : Integers{0, 2, 1, 3}}});
  }
  model.constant("mask", Shape{1, 1, 3, 3}, {0, -1e9, -1e9, 0, 0, -1e9, 0, 0, 0});
  model.add("Mul", {"qh", "scale"}, {"qs"}).add("MatMul", {"qs", "kh"}, {"s"});
  if (causal) {
    model.add("Add", {"s", "mask"}, {"a"});
  }
  model.add("Softmax", {causal ? "a" : "s"}, {"p"}, {{"axis", std::int64_t{-1}}});
  model.add("MatMul", {"p", "vh"}, {"h"});
  model.add("Transpose", {"h"}, {"b"}, {{"perm", Integers{0, 2, 1, 3}}});
  model.add("Reshape", {"b", "flat"}, {"y"});

  check_predicts(model, x, attention(parts[0], parts[1], parts[2], units, 2, scale, causal));
}

TEST_CASE("A layer normalisation in steps without a shift, times a factor for each feature") {
  const Numbers x = waves(6, 0.1);
  const Numbers weight = waves(9, 2.0);
  const Numbers gain{0.5, -2.0, 3.0};
  const Numbers factor{1.5, 2.5, -0.5};
  OnnxModel model(Shape{2, 3});
  model.constant("w", Shape{3, 3}, weight).constant("g", Shape{3}, gain);
  model.constant("f", Shape{3}, factor).scalar("two", 2).scalar("eps", 0.25);
  const std::map<std::string, nn::OnnxOperator::Attribute> last{{"axes", Integers{-1}}};
  model.add("MatMul", {"x", "w"}, {"m"}).add("ReduceMean", {"m"}, {"mean"}, last);
  model.add("Sub", {"m", "mean"}, {"c"}).add("Pow", {"c", "two"}, {"sq"});
  model.add("ReduceMean", {"sq"}, {"var"}, last).add("Add", {"var", "eps"}, {"ve"});
  model.add("Sqrt", {"ve"}, {"sd"}).add("Div", {"c", "sd"}, {"n"}).add("Mul", {"n", "g"}, {"ng"});
  model.add("Mul", {"f", "ng"}, {"y"});

  Numbers expected = product(x, weight, 3);
  for (std::size_t row = 0; row < 2; ++row) {
    double* const y = expected.data() + 3 * row;
    const double mean = (y[0] + y[1] + y[2]) / 3.0;
    double variance = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      variance += (y[i] - mean) * (y[i] - mean) / 3.0;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      y[i] = (y[i] - mean) / std::sqrt(variance + 0.25) * gain[i] * factor[i];
    }
  }
  check_predicts(model, x, expected);
}

TEST_CASE("Standardised images, and means that count the zeros of a Pad") {
  const Numbers x = waves(18, 0.7);
  const Numbers mean{0.5, -0.25};
  const Numbers deviation{2.0, 0.5};
  const Numbers weight = waves(24, 1.1);
  OnnxModel model(Shape{2, 3, 3});
  model.constant("mean", Shape{2, 1, 1}, mean).constant("std", Shape{1, 2, 1, 1}, deviation);
  model.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1}).integers("flat", {0, -1});
  model.constant("w", Shape{8, 3}, weight).add("Sub", {"x", "mean"}, {"c"});
  model.add("Div", {"c", "std"}, {"d"}).add("Pad", {"d", "pads"}, {"p"});
  model.add("AveragePool", {"p"}, {"a"},
            {{"kernel_shape", Integers{3, 3}}, {"strides", Integers{2, 2}}});
  model.add("Reshape", {"a", "flat"}, {"f"}).add("MatMul", {"f", "w"}, {"y"});

  Numbers pooled(8, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = i / 9;
    const std::size_t row = i / 3 % 3 + 1;  // with the padding
    const std::size_t column = i % 3 + 1;
    for (std::size_t window = 0; window < 4; ++window) {
      const std::size_t top = window / 2 * 2;
      const std::size_t left = window % 2 * 2;
      if (row >= top && row < top + 3 && column >= left && column < left + 3) {
        pooled[4 * channel + window] += (x[i] - mean[channel]) / deviation[channel] / 9.0;
      }
    }
  }
  check_predicts(model, x, product(pooled, weight, 8));
}

TEST_CASE("A transposed convolution of lines, and the mean of its filters") {
  const Numbers x = waves(6, 0.2);  // (2, 3)
  const Numbers kernel = waves(12, 0.9);
  const Numbers bias{0.25, -1.0};
  OnnxModel model(Shape{2, 3});
  model.constant("k", Shape{2, 2, 3}, kernel).constant("b", Shape{2}, bias);
  model.add("ConvTranspose", {"x", "k", "b"}, {"c"},
            {{"strides", Integers{2}}, {"pads", Integers{1, 1}}, {"output_padding", Integers{1}}});
  model.add("ReduceMean", {"c"}, {"y"}, {{"axes", Integers{1}}, {"keepdims", std::int64_t{0}}});

  Numbers expected(6, (bias[0] + bias[1]) / 2.0);
  for (std::size_t channel = 0; channel < 2; ++channel) {
    for (std::size_t position = 0; position < 3; ++position) {
      for (std::size_t filter = 0; filter < 2; ++filter) {
        for (std::size_t tap = 0; tap < 3; ++tap) {
          const std::size_t to = 2 * position + tap;  // of the output with its padding before
          if (to >= 1 && to < 7) {
            expected[to - 1] +=
                x[3 * channel + position] * kernel[6 * channel + 3 * filter + tap] / 2.0;
          }
        }
      }
    }
  }
  check_predicts(model, x, expected);
}

TEST_CASE("Local response normalisation in the steps that PyTorch writes") {
  const Numbers x = waves(12, 0.4);  // (3, 2, 2)
  OnnxModel model(Shape{3, 2, 2});
  model.constant("w", Shape{3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  model.integers("volume", {-1, 1, 3, 2, 2}).integers("pads", {0, 0, 1, 0, 0, 0, 0, 1, 0, 0});
  model.integers("one", {1}).scalar("alpha", 6).scalar("k", 2).scalar("beta", 0.75);
  model.add("Conv", {"x", "w"}, {"c"}).add("Mul", {"c", "c"}, {"s"});
  model.add("Reshape", {"s", "volume"}, {"v"}).add("Pad", {"v", "pads"}, {"p"});
  model.add("AveragePool", {"p"}, {"a"},
            {{"kernel_shape", Integers{3, 1, 1}}, {"strides", Integers{1, 1, 1}}});
  model.add("Squeeze", {"a", "one"}, {"q"}).add("Mul", {"q", "alpha"}, {"m"});
  model.add("Add", {"m", "k"}, {"t"})
      .add("Pow", {"t", "beta"}, {"d"})
      .add("Div", {"c", "d"}, {"y"});

  Numbers expected(12);
  for (std::size_t i = 0; i < 12; ++i) {
    const std::size_t channel = i / 4;
    double sum = 0.0;
    for (std::size_t other = 0; other < 3; ++other) {
      const double value = x[4 * other + i % 4];
      sum += std::max(channel, other) - std::min(channel, other) <= 1 ? value * value : 0.0;
    }
    expected[i] = x[i] / std::pow(2.0 + 6.0 * sum / 3.0, 0.75);
  }
  check_predicts(model, x, expected);
  CHECK(model.text() == "conv2d filters=3 kernel=1 bias=false; lrn size=3 alpha=6 beta=0.75 k=2");
}

}  // namespace zygos::test_onnx_predictions
