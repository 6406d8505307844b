// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/checks.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace zygos::io {
namespace {

constexpr std::int64_t max_classes = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void fail_label(const Where& where, std::int64_t index, std::int64_t sample,
                             const std::string& label, std::int64_t allowed) {
  throw DataError(where(index) + ": found label " + label + " of sample " + std::to_string(sample) +
                  "; allowed are 0 to " + std::to_string(allowed - 1) +
                  "; fix the file or the number of classes, or store numbers that are to be "
                  "predicted (regression) as floats");
}

template <class T>
void require_labels_as(const Array& integers, std::int64_t allowed, const Where& where,
                       std::int64_t first) {
  const auto values = integers.as<T>();
  const std::int64_t row = integers.shape.size() / integers.samples();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::cmp_less(values[i], 0) || std::cmp_greater_equal(values[i], allowed)) {
      const auto index = static_cast<std::int64_t>(i);
      fail_label(where, first * row + index, first + index / row, std::to_string(values[i]),
                 allowed);
    }
  }
}

template <class T>
Labels narrow(const Array& integers, std::int64_t classes, const Where& where) {
  const std::int64_t allowed = classes == 0 ? max_classes : classes;
  require_labels_as<T>(integers, allowed, where, 0);
  const auto values = integers.as<T>();
  auto memory = allocate_bytes(values.size() * sizeof(std::int32_t), "labels");
  auto* labels = reinterpret_cast<std::int32_t*>(memory.get());
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(values[i]);
    largest = std::max(largest, labels[i]);
  }
  return {{DType::i32, integers.shape, std::move(memory)},
          classes == 0 ? std::int64_t{largest} + 1 : classes};
}

template <class T>
void require_finite_as(const Array& array, const Where& where, std::int64_t first) {
  const auto values = array.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      continue;
    }
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t row = array.shape.size() / array.samples();
    throw DataError(where(first * row + index) + ": found " +
                    (std::isnan(values[i]) ? "NaN" : "infinity") + " in element " +
                    std::to_string(index % row) + " of sample " +
                    std::to_string(first + index / row) +
                    "; only finite numbers can be trained on; clean the data");
  }
}

}  // namespace

Labels to_labels(const Array& integers, std::int64_t classes, const Where& where) {
  switch (integers.dtype) {
    case DType::u8:
      return narrow<std::uint8_t>(integers, classes, where);
    case DType::i32:
      return narrow<std::int32_t>(integers, classes, where);
    case DType::i64:
      return narrow<std::int64_t>(integers, classes, where);
    case DType::u32:
      return narrow<std::uint32_t>(integers, classes, where);
    case DType::u64:
      return narrow<std::uint64_t>(integers, classes, where);
    case DType::f32:
    case DType::f64:
    case DType::bf16:
      break;
  }
  throw InternalError("labels of a floating point type");
}

void require_labels(const Array& integers, std::int64_t classes, const Where& where,
                    std::int64_t first) {
  switch (integers.dtype) {
    case DType::u8:
      return require_labels_as<std::uint8_t>(integers, classes, where, first);
    case DType::i32:
      return require_labels_as<std::int32_t>(integers, classes, where, first);
    case DType::i64:
      return require_labels_as<std::int64_t>(integers, classes, where, first);
    case DType::u32:
      return require_labels_as<std::uint32_t>(integers, classes, where, first);
    case DType::u64:
      return require_labels_as<std::uint64_t>(integers, classes, where, first);
    default:
      throw InternalError("labels of a floating point type");
  }
}

void require_finite(const Array& array, const Where& where, std::int64_t first) {
  if (array.dtype == DType::f32) {
    require_finite_as<float>(array, where, first);
  } else if (array.dtype == DType::f64) {
    require_finite_as<double>(array, where, first);
  }
}

void require_finite(DType dtype, const Shape& samples, const std::byte* data, const Where& where,
                    std::int64_t first) {
  const std::shared_ptr<const std::byte> borrowed(data, [](const std::byte*) {});
  require_finite(Array{dtype, samples, borrowed}, where, first);
}

void require_options(const LoadOptions& options) {
  if (options.classes < 0 || options.classes > max_classes) {
    throw UsageError("found " + std::to_string(options.classes) + " classes; allowed are 1 to " +
                     std::to_string(max_classes) + ", or 0 to take them from the labels");
  }
  if (!std::isfinite(options.input_scale.value_or(1.0)) || !std::isfinite(options.input_offset)) {
    throw UsageError("the scale and the offset of a data set's inputs must be finite numbers");
  }
}

void require_same_count(const Array& inputs, const std::string& inputs_name, const Array& targets,
                        const std::string& targets_name) {
  if (inputs.samples() != targets.samples()) {
    throw DataError(inputs_name + ": found " + std::to_string(inputs.samples()) + " samples, but " +
                    std::to_string(targets.samples()) + " in " + targets_name +
                    "; each input needs exactly one target; give two files of the same set");
  }
}

Array with_sample_extent(Array array) {
  if (array.shape.rank() == 1) {
    array.shape = Shape{array.shape[0], 1};
  }
  return array;
}

double input_scale(const LoadOptions& options, DType dtype) {
  return options.input_scale.value_or(dtype == DType::u8 ? 1.0 / 255.0 : 1.0);
}

}  // namespace zygos::io
