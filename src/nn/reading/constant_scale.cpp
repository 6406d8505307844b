// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "nn/reading/constant_scale.hpp"

#include "zygos/core/error.hpp"
#include "zygos/nn/layers.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace zygos::nn {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 28;

/// Whether a constant has an element for every element of a tensor, by broadcasting.
bool broadcasts_to(const Shape& constant, const Shape& shape) {
  if (constant.rank() > shape.rank()) {
    return false;
  }
  const std::size_t before = shape.rank() - constant.rank();
  for (std::size_t axis = 0; axis < constant.rank(); ++axis) {
    if (constant[axis] != 1 && constant[axis] != shape[before + axis]) {
      return false;
    }
  }
  return true;
}

/// By element of the tensor.
std::vector<double> broadcast(const OnnxConstant& constant, const Shape& shape) {
  const std::vector<double> numbers = constant.numbers();
  const std::size_t before = shape.rank() - constant.shape.rank();
  std::vector<double> all(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t from = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = shape.rank(); axis-- > before;) {
      const std::int64_t extent = constant.shape[axis - before];
      from += extent == 1 ? 0 : (rest % shape[axis]) * stride;
      stride *= extent;
      rest /= shape[axis];
    }
    all[i] = numbers[static_cast<std::size_t>(from)];
  }
  return all;
}

/// One number for each channel, of which each has as many elements; nothing if they differ within
/// one.
std::optional<std::vector<double>> by_channel(const std::vector<double>& all,
                                              std::int64_t channels) {
  const auto run = static_cast<std::ptrdiff_t>(all.size()) / channels;
  std::vector<double> numbers;
  for (auto begin = all.begin(); begin != all.end(); begin += run) {
    if (std::count(begin, begin + run, *begin) != run) {
      return std::nullopt;
    }
    numbers.push_back(*begin);
  }
  return numbers;
}

/// Parameters of the batch_norm, an element for each channel.
struct Parameters {
  std::vector<double> gain;
  std::vector<double> shift;
  std::vector<double> mean;
};

Parameters parameters_of(const OnnxOperator& op, const std::vector<double>& numbers,
                         bool constant_first) {
  Parameters out{std::vector<double>(numbers.size(), 1.0), std::vector<double>(numbers.size(), 0.0),
                 std::vector<double>(numbers.size(), 0.0)};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (op.type == "Mul") {
      out.gain[i] = numbers[i];
    } else if (op.type == "Div") {
      out.gain[i] = 1.0 / numbers[i];
    } else if (op.type == "Add") {
      out.mean[i] = -numbers[i];
    } else if (constant_first) {
      out.gain[i] = -1.0;
      out.shift[i] = numbers[i];
    } else {
      out.mean[i] = numbers[i];
    }
  }
  return out;
}

}  // namespace

std::optional<OnnxLayer> read_constant_scale(OnnxSource& source, const OnnxOperator& op) {
  const auto operands = onnx_with_constant(source, op);
  const bool constant_first = operands && operands->computed == op.input(1);
  if (!operands || (op.type == "Div" && constant_first)) {
    return std::nullopt;
  }
  const OnnxConstant& constant = *operands->constant;
  const OnnxValue& x = source.value(operands->computed);
  if (x.shape.rank() < 2 || x.shape[0] != 1 || !broadcasts_to(constant.shape, x.shape)) {
    return std::nullopt;
  }
  if (x.shape.size() == 0 || x.shape.size() > max_elements) {
    throw UsageError("its input is " + x.shape.text() +
                     "; it is read for up to 2^28 elements of a sample");
  }
  std::vector<double> numbers = broadcast(constant, x.shape);
  if (op.type == "Div" && std::ranges::count(numbers, 0.0) > 0) {
    throw UsageError("it divides by a constant '" + constant.name + "' that has zeros");
  }
  Shape sample = x.shape.without_leading();
  if (auto channels = by_channel(numbers, sample[0])) {
    numbers = *std::move(channels);
  } else {
    sample = Shape{sample.size()};
  }
  const Parameters found = parameters_of(op, numbers, constant_first);
  const DType dtype = constant.dtype == DType::f64 ? DType::f64 : DType::f32;
  const std::vector<double> variance(numbers.size(), 1.0 - BatchNormOptions{}.epsilon);
  OnnxLayer layer{.inputs = {{operands->computed, sample}},
                  .shape = x.shape,
                  .frozen = true,
                  .note =
                      "it is the file's sum, difference, product or quotient with a constant, "
                      "which training leaves as it is"};
  for (const auto* values : {&found.gain, &found.shift, &found.mean, &variance}) {
    layer.parameters.push_back(onnx_constant(values == &found.gain ? constant.name : std::string(),
                                             dtype, Shape{std::ssize(*values)}, *values));
  }
  return layer;
}

}  // namespace zygos::nn
