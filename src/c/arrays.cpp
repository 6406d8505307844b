// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"

#include "c/failure.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace zygos::c {
namespace {

constexpr std::int32_t max_rank = ZYGOS_MAX_RANK;
static_assert(max_rank == Shape::max_rank + 1, "samples have one dimension more than a sample");

/// Strides of an array whose own are all 0: dense, row major.
std::array<std::int64_t, ZYGOS_MAX_RANK> strides_of(const zygos_array& array) {
  std::array<std::int64_t, ZYGOS_MAX_RANK> strides{};
  std::copy_n(array.strides, array.rank, strides.begin());
  if (std::ranges::any_of(strides, [](std::int64_t stride) { return stride != 0; })) {
    return strides;
  }
  std::int64_t stride = 1;
  for (std::int32_t axis = array.rank; axis-- > 0;) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= array.dimensions[axis];
  }
  return strides;
}

void require_address(const zygos_array& array, DType type, const std::string& what) {
  if (array.data == nullptr) {
    throw UsageError("the data of " + what + " are NULL");
  }
  if (reinterpret_cast<std::uintptr_t>(array.data) % size_of(type) != 0) {
    throw UsageError("the data of " + what + " do not begin at a multiple of " +
                     std::to_string(size_of(type)) + " bytes, the size of an element");
  }
}

/// Throws unless all products of a stride and an index are far from overflow.
void require_small(const infer::Samples& samples, const std::string& what) {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 128;
  const auto check = [&](std::int64_t stride, std::int64_t extent) {
    if (extent > 0 && (stride > limit / extent || stride < -limit / extent)) {
      throw UsageError(what + " has a stride of " + std::to_string(stride) +
                       " elements, which no memory has");
    }
  };
  check(samples.stride, samples.count);
  for (std::size_t axis = 0; axis < samples.shape.rank(); ++axis) {
    check(samples.strides[axis], samples.shape[axis]);
  }
}

}  // namespace

DType dtype_of(std::int32_t type, const std::string& what) {
  switch (type) {
    case ZYGOS_FLOAT32:
      return DType::f32;
    case ZYGOS_FLOAT64:
      return DType::f64;
    case ZYGOS_BFLOAT16:
      return DType::bf16;
    default:
      throw UsageError(what + " has the type " + std::to_string(type) +
                       "; allowed are ZYGOS_FLOAT32, ZYGOS_FLOAT64 and ZYGOS_BFLOAT16");
  }
}

zygos_type type_of(DType dtype) noexcept {
  if (dtype == DType::bf16) {
    return ZYGOS_BFLOAT16;
  }
  return dtype == DType::f64 ? ZYGOS_FLOAT64 : ZYGOS_FLOAT32;
}

Shape shape_of(std::int32_t rank, const std::int64_t* dimensions, const std::string& what) {
  if (rank < 0 || rank > static_cast<std::int32_t>(Shape::max_rank)) {
    throw UsageError(what + " has rank " + std::to_string(rank) + "; allowed are 0 to " +
                     std::to_string(Shape::max_rank));
  }
  return Shape(std::span(dimensions, static_cast<std::size_t>(rank)));
}

infer::Samples samples_of(const zygos_array& array, const std::string& what) {
  if (array.rank < 1 || array.rank > max_rank) {
    throw UsageError(what + " has rank " + std::to_string(array.rank) + "; allowed are 1 to " +
                     std::to_string(max_rank) + ", the first dimension counts samples");
  }
  infer::Samples samples;
  samples.data = array.data;
  samples.dtype = dtype_of(array.type, what);
  samples.count = array.dimensions[0];
  samples.shape = shape_of(array.rank - 1, array.dimensions + 1, what);
  // The whole array's: refuses what is negative or larger than any memory.
  const Shape whole = Shape{samples.count, samples.shape.size()};
  const auto strides = strides_of(array);
  samples.stride = strides[0];
  std::copy_n(strides.begin() + 1, samples.shape.rank(), samples.strides.begin());
  require_small(samples, what);
  if (whole.size() > 0) {
    require_address(array, samples.dtype, what);
  }
  return samples;
}

void put_samples(std::span<const zygos_array> arrays, const std::string& what,
                 std::vector<infer::Samples>& samples) {
  samples.clear();
  for (const zygos_array& array : arrays) {
    samples.push_back(samples_of(
        array, arrays.size() == 1 ? what : what + " " + std::to_string(samples.size() + 1)));
  }
}

std::vector<infer::Weight> weights_of(const zygos_weight* weights, std::int64_t count) {
  if (count < 0) {
    throw UsageError(std::to_string(count) + " weights; there can't be fewer than 0");
  }
  if (count > 0) {
    required(weights, "weights");
  }
  std::vector<infer::Weight> out;
  for (const zygos_weight& weight : std::span(weights, static_cast<std::size_t>(count))) {
    const std::string name = &required(weight.name, "the name of a weight");
    const std::string what = "weight '" + name + "'";
    const infer::Samples values = samples_of(weight.values, what);
    if (!values.is_dense()) {
      throw UsageError(what + " has strides that are not dense and row major; copy it first");
    }
    const auto rank = weight.values.rank;
    out.push_back(
        {name, values.dtype, shape_of(rank, weight.values.dimensions, what), values.data});
  }
  return out;
}

}  // namespace zygos::c
