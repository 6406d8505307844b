// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "infer/samples.hpp"

#include "zygos/core/error.hpp"
#include "zygos/lane/dispatch.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace zygos::infer {
namespace {

using Strides = std::array<std::int64_t, Shape::max_rank>;

Strides dense_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

void require_count(const Samples& samples, std::int64_t count) {
  if (samples.count != count) {
    throw UsageError("the inputs have " + std::to_string(samples.count) +
                     " samples and the outputs " + std::to_string(count) +
                     "; both Views must have the same first extent");
  }
}

[[noreturn]] void refuse(const std::string& what, const Samples& found, const Shape& wanted) {
  throw UsageError("a sample of the " + what + " View has the shape " + found.shape.text() +
                   ", the model's " + what + " has " + wanted.text() + "; allowed are " +
                   wanted.with_leading(found.count).text() + " or " +
                   Shape{found.count, wanted.size()}.text() + " for " +
                   std::to_string(found.count) + " samples");
}

bool is_whole(const Shape& found, const Shape& wanted) {
  return found.size() == wanted.size() &&
         (found.rank() <= 1 || found.without_ones() == wanted.without_ones());
}

/// Of several Views that lie one behind the other along the first axis.
bool is_part(const Shape& part, const Shape& whole) {
  return part.rank() <= 1 ||
         (part.rank() == whole.rank() && part.without_leading() == whole.without_leading());
}

std::byte* begin_of(const Samples& samples) { return static_cast<std::byte*>(samples.data); }

/// First byte of the memory that samples lie in, and the one behind it.
std::pair<const std::byte*, const std::byte*> range_of(const Samples& samples) {
  std::int64_t first = std::min<std::int64_t>(0, (samples.count - 1) * samples.stride);
  std::int64_t last = std::max<std::int64_t>(0, (samples.count - 1) * samples.stride);
  for (std::size_t axis = 0; axis < samples.shape.rank(); ++axis) {
    const std::int64_t way = (samples.shape[axis] - 1) * samples.strides[axis];
    (way < 0 ? first : last) += way;
  }
  const auto element = static_cast<std::int64_t>(size_of(samples.dtype));
  return {begin_of(samples) + first * element, begin_of(samples) + (last + 1) * element};
}

/// f(std::type_identity<T>{}) with the type of floating-point elements.
template <class F>
void with_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::f64:
      return f(std::type_identity<double>{});
    case DType::bf16:
      return f(std::type_identity<bf16>{});
    default:
      throw UsageError("samples have f32, f64 or bf16 elements, not " +
                       std::string(name_of(dtype)));
  }
}

}  // namespace

Samples Samples::part(std::int64_t begin, std::int64_t number) const {
  Samples out = *this;
  out.data = begin_of(*this) + begin * stride * static_cast<std::int64_t>(size_of(dtype));
  out.count = number;
  return out;
}

bool Samples::is_dense() const {
  const Strides dense = dense_strides(shape);
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 1 && strides[axis] != dense[axis]) {
      return false;
    }
  }
  return count <= 1 || stride == shape.size();
}

void require_fit(const graph::Graph& graph, std::span<const Samples> inputs,
                 const Samples& outputs) {
  const Shape& input = graph.input_shape();
  std::int64_t elements = 0;
  for (const Samples& part : inputs) {
    require_count(part, outputs.count);
    const bool fits = inputs.size() == 1 ? is_whole(part.shape, input) : is_part(part.shape, input);
    if (!fits) {
      refuse("input", part, input);
    }
    elements += part.shape.size();
  }
  if (elements != input.size()) {
    throw UsageError("the input Views have " + std::to_string(elements) +
                     " elements per sample together, the model's input " + input.text() + " has " +
                     std::to_string(input.size()));
  }
  if (!is_whole(outputs.shape, graph.output_shape())) {
    refuse("output", outputs, graph.output_shape());
  }
}

bool overlap(const Samples& one, const Samples& other) {
  const auto [first, end] = range_of(one);
  const auto [other_first, other_end] = range_of(other);
  return first < other_end && other_first < end;
}

Samples samples_in(const Tensor& tensor, std::int64_t first, const Shape& shape) {
  const Shape sample = tensor.shape().without_leading();
  Samples out{tensor.raw(),  tensor.dtype(), tensor.shape()[0],
              sample.size(), shape,          dense_strides(shape)};
  out.data = begin_of(out) + first * static_cast<std::int64_t>(size_of(tensor.dtype()));
  return out;
}

void copy_samples(const lane::Execution& execution, const Samples& from, const Samples& to,
                  const ops::SampleStandards& standards) {
  ops::SampleLayout layout;
  layout.rank = from.shape.rank();
  for (std::size_t axis = 0; axis < layout.rank; ++axis) {
    layout.dimensions[axis] = from.shape[axis];
    layout.from[axis] = from.strides[axis];
    layout.to[axis] = to.strides[axis];
  }
  lane::dispatch(execution, [&](const auto& exec) {
    with_type(from.dtype, [&](auto from_type) {
      with_type(to.dtype, [&](auto to_type) {
        using From = typename decltype(from_type)::type;
        using To = typename decltype(to_type)::type;
        ops::copy_samples(exec, from.count, layout, static_cast<const From*>(from.data),
                          from.stride, static_cast<To*>(to.data), to.stride, standards);
      });
    });
  });
}

}  // namespace zygos::infer
