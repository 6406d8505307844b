// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How a layer recognises itself among the operators of an ONNX model, the counterpart of onnx.hpp
// and like it without a library of ONNX. A reader is called with the last operator of what the
// layer may be, looks backward from there, and says which tensors the layer reads, its options and
// its parameters.
//
// A model is read for a batch of one sample: every tensor has the shape that it has then, with an
// extent of 1 for the batch, wherever that is.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/nn/layers.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace zygos::nn {

/// A tensor that does not depend on the model's input: an initializer, or what was computed from
/// such. Elements are f32, f64, i32, i64 or bf16, row major; truth values are i32.
struct OnnxConstant {
  std::string name;  ///< of the initializer that it is, or was made of
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const std::vector<std::byte>> bytes{};

  std::vector<double> numbers() const;
  std::vector<std::int64_t> integers() const;
};

/// Rounds to the type.
OnnxConstant onnx_constant(std::string name, DType dtype, const Shape& shape,
                           std::span<const double> values);
OnnxConstant onnx_integers(std::string name, const Shape& shape,
                           std::span<const std::int64_t> values);
/// Rows and columns of a matrix change places.
OnnxConstant onnx_transposed(const OnnxConstant& matrix);
/// The same elements under another shape.
OnnxConstant onnx_reshaped(OnnxConstant constant, const Shape& shape);
/// (count), of a constant that is broadcast along all axes but the last one: (count), (1, count)
/// ... Throws UsageError for another shape.
OnnxConstant onnx_along_last(const OnnxConstant& constant, std::int64_t count);

struct OnnxOperator {
  using Attribute =
      std::variant<std::int64_t, double, std::vector<std::int64_t>, std::vector<double>,
                   std::string, std::vector<std::string>, OnnxConstant>;
  std::string name;
  std::string type;
  std::vector<std::string> inputs;  ///< empty: one that is left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;

  /// Name of the tensor; empty if it is left out.
  std::string input(std::size_t index) const;
  bool has(std::string_view attribute) const;
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  double real(std::string_view attribute, double fallback) const;
  std::string text(std::string_view attribute, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view attribute,
                                     std::vector<std::int64_t> fallback = {}) const;
  std::vector<std::string> texts(std::string_view attribute,
                                 std::vector<std::string> fallback) const;
};

/// What is known of a tensor that depends on the model's input: it consists of elements of a
/// layer's output, or of the model's input, moved by operators such as Reshape and Transpose.
struct OnnxValue {
  std::string layer;  ///< or "input"
  Shape sample;       ///< of that layer's output
  Shape shape;        ///< of the tensor, the batch as 1
  /// By element of the tensor its index in the layer's output; empty: all of them in order.
  std::vector<std::int64_t> order;
  std::string moved_by;  ///< the operator that has changed the order, for messages
};

/// A feature of the vectors that a layer's output consists of, times a factor.
struct OnnxColumn {
  std::string layer;
  std::int64_t column = 0;
  double factor = 1.0;
};

/// The operators that a reader looks at.
class OnnxSource {
 public:
  virtual ~OnnxSource() = default;
  /// The operator that computes a tensor; null for initializers and the model's input.
  virtual const OnnxOperator* maker(const std::string& tensor) const = 0;
  /// The same if it is of this type and no other operator reads the tensor.
  virtual const OnnxOperator* inner(const std::string& tensor, std::string_view type) const = 0;
  /// Null for a tensor that depends on the model's input.
  virtual const OnnxConstant* constant(const std::string& tensor) = 0;
  /// Reads the layers before a tensor that depends on the model's input. Throws UsageError where
  /// one of them is not known, so readers ask once they have recognised their operators.
  virtual const OnnxValue& value(const std::string& tensor) = 0;
  /// A tensor (1, positions, columns) of a layer whose vectors have these features: a dense layer
  /// of those columns of the weights, for which the features must be of dense layers of one input
  /// that multiply vector by vector. Nothing where they are not.
  virtual std::optional<std::string> with_columns(std::span<const OnnxColumn> columns) = 0;
};

struct OnnxInput {
  std::string tensor;
  /// The shape of a sample that the layer wants; nothing: that of the layer before.
  std::optional<Shape> sample{};
  bool any_order = false;  ///< the reader has seen to OnnxValue::order
};

/// A layer as a reader has found it.
struct OnnxLayer {
  std::vector<OnnxInput> inputs;
  /// Keys of the deck and their values in YAML; those with their defaults are left out.
  std::vector<std::pair<std::string, std::string>> options{};
  std::vector<OnnxConstant> parameters{};  ///< as Layer::parameters() has them
  std::optional<Shape> shape{};            ///< of the tensor; nothing: 1 and the layer's output
  std::vector<std::int64_t> order{};       ///< as in OnnxValue
  bool frozen = false;                     ///< training is to leave it as it is
  std::string note{};                      ///< what the user should know, if anything
};

/// How a layer or a loss is found in a model.
struct OnnxReading {
  std::vector<std::string> operators;  ///< that may be the last ones
  /// Nothing: these operators are something else. Throws UsageError for what is the layer, but with
  /// attributes that it does not have.
  std::function<std::optional<OnnxLayer>(OnnxSource&, const OnnxOperator&)> read;
  /// More operators, which are read so only where they are part of no other layer.
  std::vector<std::string> otherwise{};
};

/// A reader of an operator that computes one tensor from another of its shape and layout.
OnnxReading onnx_elementwise(std::string type);

/// The value of a constant of one element; nothing for any other tensor.
std::optional<double> onnx_scalar(OnnxSource& source, const std::string& tensor);
/// Of a Dropout: an attribute before version 12 of the operators, and an input since.
double onnx_dropout_rate(OnnxSource& source, const OnnxOperator& op);
/// The operands of a sum or product: what depends on the input, and the constant. Nothing unless
/// there is one of each.
struct OnnxOperands {
  std::string computed;
  const OnnxConstant* constant = nullptr;
};
std::optional<OnnxOperands> onnx_with_constant(OnnxSource& source, const OnnxOperator& op);

/// (channels, height, width) of a tensor (1, channels, height, width); throws UsageError for
/// another rank.
Shape onnx_image(const OnnxOperator& op, const Shape& shape);
/// Attributes of operators with windows over images or lines. Throws UsageError for padding that
/// is not the same on both sides. `dimensions`: of the input, one for each axis.
struct OnnxWindow {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
};
OnnxWindow onnx_window(const OnnxOperator& op, std::span<const std::int64_t> kernel,
                       std::span<const std::int64_t> dimensions);
/// "3" or "[3, 5]".
std::string onnx_text(std::span<const std::int64_t> values);
/// The shortest text of a number that was rounded to float.
std::string onnx_text(double value);
/// Appends an option unless all its values are the default.
void onnx_add_option(OnnxLayer& layer, std::string key, std::span<const std::int64_t> values,
                     std::int64_t fallback);

/// Throws UsageError unless the operator's attribute is this.
void onnx_require(const OnnxOperator& op, std::string_view attribute, std::int64_t value);

}  // namespace zygos::nn
