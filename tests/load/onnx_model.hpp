// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Small models of ONNX for tests of how they are read.
#pragma once

#include "load/onnx/model_reading.hpp"

#include "zygos/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Reading the model is an error whose message has this part.
#define CHECK_REFUSED(model, part)                        \
  CHECK_THROWS_MATCHES((model).read(), zygos::UsageError, \
                       Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(part)))

namespace zygos::test {

/// Operators one by one; the model's input is "x", and its output that of the last operator.
class OnnxModel {
 public:
  explicit OnnxModel(Shape sample) {
    file_.input = "x";
    file_.sample = sample;
  }

  OnnxModel& add(std::string type, std::vector<std::string> inputs,
                 std::vector<std::string> outputs,
                 std::map<std::string, nn::OnnxOperator::Attribute> attributes = {}) {
    file_.output = outputs.front();
    file_.operators.push_back({.name = outputs.front() + "_node",
                               .type = std::move(type),
                               .inputs = std::move(inputs),
                               .outputs = std::move(outputs),
                               .attributes = std::move(attributes)});
    return *this;
  }

  OnnxModel& constant(const std::string& name, const Shape& shape, std::vector<double> values) {
    file_.constants.emplace(name, nn::onnx_constant(name, DType::f32, shape, values));
    return *this;
  }
  /// With the elements 1, 2, 3 ...
  OnnxModel& counted(const std::string& name, const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.size()));
    std::iota(values.begin(), values.end(), 1.0);
    return constant(name, shape, values);
  }
  OnnxModel& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    file_.constants.emplace(name, nn::onnx_integers(name, Shape{std::ssize(values)}, values));
    return *this;
  }
  /// A scalar.
  OnnxModel& integer(const std::string& name, std::int64_t value) {
    file_.constants.emplace(name, nn::onnx_integers(name, Shape{}, std::span(&value, 1)));
    return *this;
  }
  OnnxModel& scalar(const std::string& name, double value) {
    return constant(name, Shape{}, {value});
  }

  const load::OnnxFile& file() const { return file_; }
  load::ReadModel read() const { return load::ModelReading(file_).read(); }

  /// What the layers are, in one line: "dense units=3; relu".
  std::string text() const {
    std::string all;
    for (const load::ReadLayer& layer : read().layers) {
      all += (all.empty() ? "" : "; ") + layer.type;
      for (const auto& [key, value] : layer.options) {
        all += " " + key + "=" + value;
      }
      all += layer.frozen ? " frozen" : "";
    }
    return all;
  }

 private:
  load::OnnxFile file_;
};

/// A parameter's elements.
inline std::vector<double> elements_of(const load::ReadModel& model, std::size_t layer,
                                       std::size_t parameter) {
  return model.layers.at(layer).parameters.at(parameter).second.numbers();
}

using Integers = std::vector<std::int64_t>;

}  // namespace zygos::test
