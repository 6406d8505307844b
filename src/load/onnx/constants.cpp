// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "load/onnx/constants.hpp"

#include "load/onnx/movement.hpp"

#include "zygos/core/error.hpp"
#include "zygos/tensor/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace zygos::load {
namespace {

using nn::OnnxConstant;
using nn::OnnxOperator;
using Inputs = std::vector<const OnnxConstant*>;
using Binary = double (*)(double, double);
using Unary = double (*)(double);

/// Types of elements as ONNX counts them.
enum Element : std::int64_t {
  float32 = 1,
  int32 = 6,
  int64 = 7,
  truth = 9,
  float16 = 10,
  float64 = 11,
  bfloat16 = 16
};

template <class F>
struct Named {
  std::string_view type;
  F f;
};

template <class Table>
auto found(const Table& table, std::string_view type) -> decltype(table.front().f) {
  const auto at = std::ranges::find_if(table, [&](const auto& one) { return one.type == type; });
  return at == table.end() ? nullptr : at->f;
}

constexpr std::array<Named<Binary>, 8> arithmetic{
    {{"Add", [](double a, double b) { return a + b; }},
     {"Sub", [](double a, double b) { return a - b; }},
     {"Mul", [](double a, double b) { return a * b; }},
     {"Div", [](double a, double b) { return a / b; }},
     {"Pow", [](double a, double b) { return std::pow(a, b); }},
     {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
     {"Min", [](double a, double b) { return std::min(a, b); }},
     {"Max", [](double a, double b) { return std::max(a, b); }}}};

/// Their results are truth values.
constexpr std::array<Named<Binary>, 7> comparisons{
    {{"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
     {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
     {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
     {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
     {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
     {"And", [](double a, double b) { return a != 0.0 && b != 0.0 ? 1.0 : 0.0; }},
     {"Or", [](double a, double b) { return a != 0.0 || b != 0.0 ? 1.0 : 0.0; }}}};

constexpr std::array<Named<Unary>, 8> functions{
    {{"Neg", [](double a) { return -a; }},
     {"Sqrt", [](double a) { return std::sqrt(a); }},
     {"Exp", [](double a) { return std::exp(a); }},
     {"Abs", [](double a) { return std::abs(a); }},
     {"Floor", [](double a) { return std::floor(a); }},
     {"Ceil", [](double a) { return std::ceil(a); }},
     {"Reciprocal", [](double a) { return 1.0 / a; }},
     {"Not", [](double a) { return a == 0.0 ? 1.0 : 0.0; }}}};

double number_in(const OnnxConstant& constant) {
  if (constant.shape.size() != 1) {
    throw UsageError("it needs one number, but '" + constant.name + "' is " +
                     constant.shape.text());
  }
  return constant.numbers().front();
}

OnnxConstant of_binary(Binary f, DType dtype, const OnnxConstant& one, const OnnxConstant& other) {
  const Shape shape = broadcast_shape(one.shape, other.shape);
  const auto a = one.numbers();
  const auto b = other.numbers();
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(shape.size()));
  for_each_index(shape, [&](const std::vector<std::int64_t>& at) {
    values.push_back(f(a[static_cast<std::size_t>(broadcast_index(one.shape, at))],
                       b[static_cast<std::size_t>(broadcast_index(other.shape, at))]));
  });
  return nn::onnx_constant(one.name, dtype, shape, values);
}

OnnxConstant of_unary(Unary f, const OnnxConstant& one) {
  auto values = one.numbers();
  std::ranges::transform(values, values.begin(), f);
  return nn::onnx_constant(one.name, one.dtype, one.shape, values);
}

OnnxConstant with_moved(const OnnxConstant& input, const Movement& movement) {
  OnnxConstant out = input;
  out.shape = movement.shape;
  if (movement.keeps_order()) {
    return out;
  }
  const std::size_t size = size_of(input.dtype);
  std::vector<std::byte> bytes(movement.from.size() * size);
  for (std::size_t i = 0; i < movement.from.size(); ++i) {
    std::memcpy(bytes.data() + i * size,
                input.bytes->data() + static_cast<std::size_t>(movement.from[i]) * size, size);
  }
  out.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return out;
}

/// Half precision is not rounded to.
OnnxConstant cast(const OnnxConstant& input, std::int64_t to) {
  std::vector<double> values = input.numbers();
  switch (to) {
    case float32:
    case float16:
    case bfloat16:
      return nn::onnx_constant(input.name, DType::f32, input.shape, values);
    case float64:
      return nn::onnx_constant(input.name, DType::f64, input.shape, values);
    case truth:
      std::ranges::transform(values, values.begin(),
                             [](double value) { return value != 0.0 ? 1.0 : 0.0; });
      return nn::onnx_constant(input.name, DType::i64, input.shape, values);
    case int32:
    case int64:
      if (!is_floating_point(input.dtype)) {
        return input;
      }
      return nn::onnx_constant(input.name, DType::i64, input.shape, values);
    default:
      throw UsageError("it casts to the type of number " + std::to_string(to) +
                       ", which is not one of float, double, int32, int64 and bool");
  }
}

bool differ_along_only(std::size_t axis, const Shape& one, const Shape& other) {
  bool same = one.rank() == other.rank();
  for (std::size_t i = 0; same && i < one.rank(); ++i) {
    same = i == axis || one[i] == other[i];
  }
  return same;
}

OnnxConstant concatenated(const OnnxOperator& op, const Inputs& inputs) {
  const Shape& first = inputs.front()->shape;
  const std::size_t axis = axis_of(op.integer("axis", 0), first.rank());
  std::vector<std::int64_t> dimensions(first.dimensions().begin(), first.dimensions().end());
  dimensions[axis] = 0;
  for (const OnnxConstant* input : inputs) {
    if (!differ_along_only(axis, first, input->shape)) {
      throw UsageError("its inputs " + first.text() + " and " + input->shape.text() +
                       " cannot be joined along axis " + std::to_string(axis));
    }
    dimensions[axis] += input->shape[axis];
  }
  const auto rows = std::span(dimensions).first(axis);
  const std::int64_t outer =
      std::accumulate(rows.begin(), rows.end(), std::int64_t{1}, std::multiplies<>());
  std::vector<double> values;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const OnnxConstant* input : inputs) {
      const auto numbers = input->numbers();
      const auto count = std::ssize(numbers) / outer;
      values.insert(values.end(), numbers.begin() + row * count,
                    numbers.begin() + (row + 1) * count);
    }
  }
  return nn::onnx_constant(inputs.front()->name, inputs.front()->dtype, Shape(dimensions), values);
}

/// The part of the last two axes on one side of the diagonal, zeros elsewhere.
OnnxConstant triangle(const OnnxOperator& op, const OnnxConstant& input, std::int64_t diagonal) {
  if (input.shape.rank() < 2) {
    throw UsageError("its input " + input.shape.text() + " is no matrix");
  }
  const bool upper = op.integer("upper", 1) != 0;
  auto values = input.numbers();
  std::size_t i = 0;
  for_each_index(input.shape, [&](const std::vector<std::int64_t>& at) {
    const std::int64_t right = at[at.size() - 1] - at[at.size() - 2] - diagonal;
    values[i] = (upper ? right >= 0 : right <= 0) ? values[i] : 0.0;
    ++i;
  });
  return nn::onnx_constant(input.name, input.dtype, input.shape, values);
}

OnnxConstant chosen(const OnnxConstant& condition, const OnnxConstant& one,
                    const OnnxConstant& other) {
  const Shape shape = broadcast_shape(condition.shape, broadcast_shape(one.shape, other.shape));
  const auto holds = condition.numbers();
  const auto a = one.numbers();
  const auto b = other.numbers();
  std::vector<double> values;
  for_each_index(shape, [&](const std::vector<std::int64_t>& at) {
    const bool first = holds[static_cast<std::size_t>(broadcast_index(condition.shape, at))] != 0.0;
    values.push_back(first ? a[static_cast<std::size_t>(broadcast_index(one.shape, at))]
                           : b[static_cast<std::size_t>(broadcast_index(other.shape, at))]);
  });
  return nn::onnx_constant(one.name, one.dtype, shape, values);
}

OnnxConstant filled(const OnnxOperator& op, const OnnxConstant& dimensions) {
  const auto found = op.attributes.find("value");
  const auto* value =
      found == op.attributes.end() ? nullptr : std::get_if<OnnxConstant>(&found->second);
  const Shape shape(dimensions.integers());
  require_moderate(shape);
  const double number = value != nullptr ? number_in(*value) : 0.0;
  const std::vector<double> values(static_cast<std::size_t>(shape.size()), number);
  return nn::onnx_constant("", value != nullptr ? value->dtype : DType::f32, shape, values);
}

OnnxConstant range(const OnnxConstant& start, const OnnxConstant& limit, const OnnxConstant& step) {
  constexpr double most = 1e8;
  const double by = number_in(step);
  const double from = number_in(start);
  const double count = by == 0.0 ? most + 1.0 : std::ceil((number_in(limit) - from) / by);
  if (count > most) {
    throw UsageError("its range has no end, or is longer than 10^8");
  }
  std::vector<double> values;
  for (double i = 0.0; i < count; ++i) {
    values.push_back(from + i * by);
  }
  return nn::onnx_constant("", start.dtype, Shape{std::ssize(values)}, values);
}

std::optional<OnnxConstant> value_of(const OnnxOperator& op) {
  for (const auto& [name, attribute] : op.attributes) {
    if (const auto* constant = std::get_if<OnnxConstant>(&attribute)) {
      OnnxConstant named = *constant;
      named.name = op.outputs.front();
      return named;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
      return nn::onnx_integers("", Shape{}, std::span(integer, 1));
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
      return nn::onnx_integers("", Shape{std::ssize(*integers)}, *integers);
    }
    if (const auto* real = std::get_if<double>(&attribute)) {
      return nn::onnx_constant("", DType::f32, Shape{}, std::span(real, 1));
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&attribute)) {
      return nn::onnx_constant("", DType::f32, Shape{std::ssize(*reals)}, *reals);
    }
  }
  return std::nullopt;
}

bool are_given(const Inputs& inputs, std::size_t count) {
  return inputs.size() >= count &&
         std::all_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const OnnxConstant* input) { return input != nullptr; });
}

OnnxConstant of_movement(const OnnxOperator& op, std::size_t output, const Inputs& inputs) {
  if (op.type == "Cast") {
    return cast(*inputs[0], op.integer("to", float32));
  }
  OnnxConstant out = with_moved(
      *inputs[0], moved(op, output, inputs[0]->shape, [&](std::size_t i) -> const OnnxConstant& {
        if (i >= inputs.size() || inputs[i] == nullptr) {
          throw UsageError("its input " + std::to_string(i) + " is missing");
        }
        return *inputs[i];
      }));
  if (op.type == "Identity") {  // exporters give tensors of equal elements names of their own so
    out.name = op.outputs.front();
  }
  return out;
}

std::optional<OnnxConstant> of_two_or_three(const OnnxOperator& op, const Inputs& inputs) {
  if (!are_given(inputs, 2)) {
    return std::nullopt;
  }
  if (const auto f = found(arithmetic, op.type); f != nullptr) {
    return of_binary(f, inputs[0]->dtype, *inputs[0], *inputs[1]);
  }
  if (const auto f = found(comparisons, op.type); f != nullptr) {
    return of_binary(f, DType::i64, *inputs[0], *inputs[1]);
  }
  if (!are_given(inputs, 3)) {
    return std::nullopt;
  }
  if (op.type == "Where") {
    return chosen(*inputs[0], *inputs[1], *inputs[2]);
  }
  return op.type == "Range" ? std::optional(range(*inputs[0], *inputs[1], *inputs[2]))
                            : std::nullopt;
}

}  // namespace

std::optional<OnnxConstant> computed(const OnnxOperator& op, std::size_t output,
                                     const Inputs& inputs) {
  if (op.type == "Constant") {
    return value_of(op);
  }
  if (!are_given(inputs, 1)) {
    return std::nullopt;
  }
  if (is_movement(op.type)) {
    return of_movement(op, output, inputs);
  }
  if (const auto f = found(functions, op.type); f != nullptr) {
    return of_unary(f, *inputs[0]);
  }
  if (op.type == "Concat" && are_given(inputs, inputs.size())) {
    return concatenated(op, inputs);
  }
  if (op.type == "ConstantOfShape") {
    return filled(op, *inputs[0]);
  }
  if (op.type == "Trilu") {
    const bool has_diagonal = inputs.size() > 1 && inputs[1] != nullptr;
    return triangle(op, *inputs[0],
                    has_diagonal ? static_cast<std::int64_t>(number_in(*inputs[1])) : 0);
  }
  return of_two_or_three(op, inputs);
}

}  // namespace zygos::load
