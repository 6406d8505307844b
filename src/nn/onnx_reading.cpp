// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/nn/onnx_reading.hpp"

#include "zygos/core/error.hpp"
#include "zygos/tensor/convert.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace zygos::nn {
namespace {

std::shared_ptr<const std::vector<std::byte>> shared(std::vector<std::byte> bytes) {
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

std::string list_of(std::span<const std::int64_t> values) {
  std::string text;
  for (const std::int64_t value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return "[" + text + "]";
}

/// What an operator that is to keep all positions pads with, before and behind an axis.
std::int64_t same_padding(std::int64_t extent, std::int64_t window, std::int64_t stride) {
  const std::int64_t outputs = (extent + stride - 1) / stride;
  return std::max<std::int64_t>((outputs - 1) * stride + window - extent, 0);
}

std::vector<std::int64_t> padding_of(const OnnxOperator& op, const OnnxWindow& window,
                                     std::span<const std::int64_t> dimensions) {
  const std::size_t axes = dimensions.size();
  std::vector<std::int64_t> pads = op.integers("pads", std::vector<std::int64_t>(2 * axes, 0));
  const std::string automatic = op.text("auto_pad", "NOTSET");
  if (automatic == "VALID") {
    pads.assign(2 * axes, 0);
  } else if (automatic != "NOTSET") {
    pads.assign(2 * axes, 0);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
      const std::int64_t all = same_padding(dimensions[axis], reach, window.stride[axis]);
      const bool more_before = automatic == "SAME_LOWER";
      pads[axis] = more_before ? all - all / 2 : all / 2;
      pads[axes + axis] = all - pads[axis];
    }
  }
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  if (pads.size() != 2 * axes || !std::equal(pads.begin(), half, half)) {
    throw UsageError(
        "its padding is " + list_of(pads) +
        " (before, then behind each axis), but layers pad both sides of an axis alike");
  }
  return {pads.begin(), half};
}

const OnnxOperator::Attribute* found(const OnnxOperator& op, std::string_view attribute) {
  const auto at = op.attributes.find(std::string(attribute));
  return at == op.attributes.end() ? nullptr : &at->second;
}

template <class T>
T attribute_or(const OnnxOperator& op, std::string_view name, T fallback) {
  const OnnxOperator::Attribute* attribute = found(op, name);
  if (attribute == nullptr) {
    return fallback;
  }
  if (const T* value = std::get_if<T>(attribute)) {
    return *value;
  }
  throw UsageError("its attribute '" + std::string(name) + "' has another type than ONNX says");
}

}  // namespace

std::vector<double> OnnxConstant::numbers() const {
  std::vector<double> values(static_cast<std::size_t>(shape.size()));
  if (is_floating_point(dtype)) {
    convert_elements(dtype, bytes->data(), DType::f64, values.data(), shape.size());
  } else {
    std::ranges::transform(integers(), values.begin(),
                           [](std::int64_t value) { return static_cast<double>(value); });
  }
  return values;
}

std::vector<std::int64_t> OnnxConstant::integers() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(shape.size()));
  ZYGOS_REQUIRE(bytes->size() == values.size() * size_of(dtype),
                "a constant of ONNX has other elements than its shape says");
  // Unlike memcpy, copy_n() may get a null pointer, that of no elements.
  if (dtype == DType::i64) {
    std::copy_n(bytes->data(), bytes->size(), reinterpret_cast<std::byte*>(values.data()));
  } else if (dtype == DType::i32) {
    std::vector<std::int32_t> narrow(values.size());
    std::copy_n(bytes->data(), bytes->size(), reinterpret_cast<std::byte*>(narrow.data()));
    std::ranges::copy(narrow, values.begin());
  } else {
    throw UsageError("the tensor '" + name + "' should hold whole numbers, but has elements of " +
                     std::string(name_of(dtype)));
  }
  return values;
}

OnnxConstant onnx_constant(std::string name, DType dtype, const Shape& shape,
                           std::span<const double> values) {
  if (!is_floating_point(dtype)) {
    const std::vector<std::int64_t> whole(values.begin(), values.end());
    return onnx_integers(std::move(name), shape, whole);
  }
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  convert_elements(DType::f64, values.data(), dtype, bytes.data(), shape.size());
  return {std::move(name), dtype, shape, shared(std::move(bytes))};
}

OnnxConstant onnx_integers(std::string name, const Shape& shape,
                           std::span<const std::int64_t> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(name), DType::i64, shape, shared({bytes.begin(), bytes.end()})};
}

OnnxConstant onnx_transposed(const OnnxConstant& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.shape[0]);
  const auto columns = static_cast<std::size_t>(matrix.shape[1]);
  const std::size_t size = size_of(matrix.dtype);
  std::vector<std::byte> bytes(matrix.bytes->size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::memcpy(bytes.data() + (column * rows + row) * size,
                  matrix.bytes->data() + (row * columns + column) * size, size);
    }
  }
  return {matrix.name, matrix.dtype, Shape{matrix.shape[1], matrix.shape[0]},
          shared(std::move(bytes))};
}

OnnxConstant onnx_reshaped(OnnxConstant constant, const Shape& shape) {
  if (shape.size() != constant.shape.size()) {
    throw UsageError("the tensor '" + constant.name + "' is " + constant.shape.text() +
                     " where the operator needs " + shape.text());
  }
  constant.shape = shape;
  return constant;
}

OnnxConstant onnx_along_last(const OnnxConstant& constant, std::int64_t count) {
  if (constant.shape.rank() == 0 || constant.shape.dimensions().back() != count) {
    throw UsageError("the tensor '" + constant.name + "' is " + constant.shape.text() +
                     ", but must have its " + std::to_string(count) +
                     " elements along its last axis");
  }
  return onnx_reshaped(constant, Shape{count});
}

std::string OnnxOperator::input(std::size_t index) const {
  return index < inputs.size() ? inputs[index] : std::string();
}

bool OnnxOperator::has(std::string_view attribute) const {
  return found(*this, attribute) != nullptr;
}

std::int64_t OnnxOperator::integer(std::string_view attribute, std::int64_t fallback) const {
  return attribute_or(*this, attribute, fallback);
}

double OnnxOperator::real(std::string_view attribute, double fallback) const {
  return attribute_or(*this, attribute, fallback);
}

std::string OnnxOperator::text(std::string_view attribute, std::string_view fallback) const {
  return attribute_or(*this, attribute, std::string(fallback));
}

std::vector<std::int64_t> OnnxOperator::integers(std::string_view attribute,
                                                 std::vector<std::int64_t> fallback) const {
  return attribute_or(*this, attribute, std::move(fallback));
}

std::vector<std::string> OnnxOperator::texts(std::string_view attribute,
                                             std::vector<std::string> fallback) const {
  return attribute_or(*this, attribute, std::move(fallback));
}

OnnxReading onnx_elementwise(std::string type) {
  return {{std::move(type)}, [](OnnxSource& source, const OnnxOperator& op) {
            return std::optional(
                OnnxLayer{.inputs = {{op.input(0)}}, .shape = source.value(op.input(0)).shape});
          }};
}

std::optional<double> onnx_scalar(OnnxSource& source, const std::string& tensor) {
  const OnnxConstant* constant = tensor.empty() ? nullptr : source.constant(tensor);
  if (constant == nullptr || constant->shape.size() != 1) {
    return std::nullopt;
  }
  return constant->numbers().front();
}

double onnx_dropout_rate(OnnxSource& source, const OnnxOperator& op) {
  return onnx_scalar(source, op.input(1)).value_or(op.real("ratio", 0.5));
}

std::optional<OnnxOperands> onnx_with_constant(OnnxSource& source, const OnnxOperator& op) {
  if (op.inputs.size() != 2) {
    return std::nullopt;
  }
  for (const std::size_t which : {std::size_t{1}, std::size_t{0}}) {
    const OnnxConstant* constant = source.constant(op.inputs[which]);
    if (constant != nullptr && source.constant(op.inputs[1 - which]) == nullptr) {
      return OnnxOperands{op.inputs[1 - which], constant};
    }
  }
  return std::nullopt;
}

Shape onnx_image(const OnnxOperator& op, const Shape& shape) {
  if (shape.rank() != 4 || shape[0] != 1) {
    throw UsageError("its input is " + shape.text() + " for one sample, but " + op.type +
                     " is read for images (1, channels, height, width) only");
  }
  return shape.without_leading();
}

OnnxWindow onnx_window(const OnnxOperator& op, std::span<const std::int64_t> kernel,
                       std::span<const std::int64_t> dimensions) {
  const std::vector<std::int64_t> ones(dimensions.size(), 1);
  OnnxWindow window{.kernel = op.integers("kernel_shape", {kernel.begin(), kernel.end()}),
                    .stride = op.integers("strides", ones),
                    .padding = {},
                    .dilation = op.integers("dilations", ones)};
  for (const auto* values : {&window.kernel, &window.stride, &window.dilation}) {
    if (values->size() != dimensions.size()) {
      throw UsageError("kernel_shape, strides and dilations need " +
                       std::to_string(dimensions.size()) + " numbers each, found " +
                       list_of(*values));
    }
  }
  for (const auto* values : {&window.kernel, &window.stride, &window.dilation}) {
    if (std::ranges::any_of(*values, [](std::int64_t value) { return value < 1; })) {
      throw UsageError("kernel_shape, strides and dilations are at least 1, found " +
                       list_of(*values));
    }
  }
  window.padding = padding_of(op, window, dimensions);
  return window;
}

std::string onnx_text(std::span<const std::int64_t> values) {
  const bool alike =
      std::ranges::all_of(values, [&](std::int64_t value) { return value == values.front(); });
  return alike && !values.empty() ? std::to_string(values.front()) : list_of(values);
}

std::string onnx_text(double value) {
  for (int digits = 1; digits <= 9; ++digits) {
    std::ostringstream text;
    text.precision(digits);
    text << value;
    if (std::strtof(text.str().c_str(), nullptr) == static_cast<float>(value)) {
      return text.str();
    }
  }
  return std::to_string(value);
}

void onnx_add_option(OnnxLayer& layer, std::string key, std::span<const std::int64_t> values,
                     std::int64_t fallback) {
  if (std::ranges::any_of(values, [&](std::int64_t value) { return value != fallback; })) {
    layer.options.emplace_back(std::move(key), onnx_text(values));
  }
}

void onnx_require(const OnnxOperator& op, std::string_view attribute, std::int64_t value) {
  const std::int64_t given = op.integer(attribute, value);
  if (given != value) {
    throw UsageError("its attribute " + std::string(attribute) + " is " + std::to_string(given) +
                     "; it must be " + std::to_string(value));
  }
}

}  // namespace zygos::nn
