// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/dataset.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/machine.hpp"
#include "zygos/io/sample_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace zygos::io {
namespace {

void check_labels(const Dataset& data) {
  if (data.targets.dtype != DType::i32) {
    throw DataError(data.name + ": found labels of type " +
                    std::string(name_of(data.targets.dtype)) + "; labels are i32");
  }
  const auto labels = data.targets.as<std::int32_t>();
  const auto row = static_cast<std::size_t>(data.target_shape().size());
  const std::int32_t least = data.target_shape().rank() == 0 ? 0 : ignored_label;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < least || labels[i] >= data.classes) {
      throw DataError(data.name + ": label " + std::to_string(labels[i]) + " of sample " +
                      std::to_string(data.first + static_cast<std::int64_t>(i / row)) +
                      "; allowed are 0 to " + std::to_string(data.classes - 1));
    }
    if (i % row == 0 && std::ranges::all_of(labels.subspan(i, row), [](std::int32_t label) {
          return label == ignored_label;
        })) {
      throw DataError(data.name + ": no label of sample " + std::to_string(i / row) +
                      " is valid; give it one, or leave the sample out");
    }
  }
}

}  // namespace

std::size_t Array::bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }

void Array::require_readable(DType wanted) const {
  if (data == nullptr && shape.size() > 0) {
    throw UsageError("an array was read that is not in memory; take its samples from a BatchFeed");
  }
  if (dtype != wanted) {
    throw UsageError("an array of " + std::string(name_of(dtype)) + " was read as " +
                     std::string(name_of(wanted)) + "; ask for the stored type");
  }
}

Shape Dataset::sample_shape() const { return inputs.shape.without_leading(); }

Shape Dataset::target_shape() const { return targets.shape.without_leading(); }

std::shared_ptr<std::byte> allocate_bytes(std::size_t bytes, std::string_view what) {
  constexpr std::size_t worth_a_look = std::size_t{64} << 20;
  // The system grants more than there is, and ends the process when it is used.
  const bool exists = bytes < worth_a_look || bytes <= usable_memory();
  // operator new[] aligns for max_align_t, and leaves pages untouched until data arrive.
  auto* memory = exists ? new (std::nothrow) std::byte[bytes == 0 ? 1 : bytes] : nullptr;
  if (memory == nullptr) {
    throw MemoryError(std::string(what) + ": " + std::to_string(bytes) +
                      " bytes of host memory are needed and not available; use a smaller data set "
                      "or a machine with more memory");
  }
  return {memory, std::default_delete<std::byte[]>{}};
}

namespace detail {

Array copy_to_array(DType dtype, const Shape& shape, const void* values, std::size_t count) {
  if (static_cast<std::size_t>(shape.size()) != count) {
    throw UsageError("an array of shape " + shape.text() + " needs " +
                     std::to_string(shape.size()) + " values, got " + std::to_string(count));
  }
  auto memory = allocate_bytes(count * size_of(dtype), "an array of shape " + shape.text());
  if (count > 0) {
    std::memcpy(memory.get(), values, count * size_of(dtype));
  }
  return {dtype, shape, std::move(memory)};
}

}  // namespace detail

void check(const Dataset& data) {
  if (data.size() == 0 || data.sample_shape().size() == 0) {
    throw DataError(data.name + ": the inputs of shape " + data.inputs.shape.text() +
                    " are empty; at least one sample with one element is needed");
  }
  if (data.size() != data.targets.samples()) {
    throw DataError(data.name + ": " + std::to_string(data.size()) + " inputs and " +
                    std::to_string(data.targets.samples()) + " targets; each input needs one");
  }
  if (data.classes > 0) {
    check_labels(data);
  } else if (data.targets.dtype != DType::f32 && data.targets.dtype != DType::f64) {
    throw DataError(data.name + ": found regression targets of type " +
                    std::string(name_of(data.targets.dtype)) + "; allowed are f32 and f64");
  }
}

namespace {

template <class T>
void require_within(const Dataset& data, double least, double most, std::string_view who) {
  const std::int64_t row = std::max<std::int64_t>(data.target_shape().size(), 1);
  std::int64_t index = 0;
  for (const T value : data.targets.as<T>()) {
    if (static_cast<double>(value) < least || static_cast<double>(value) > most) {
      throw DataError(fmt::format(
          "{}: found target {} in element {} of sample {}; {} takes numbers from {} to {}; scale "
          "the targets, or take another loss",
          data.name, value, index % row, data.first + index / row, who, least, most));
    }
    ++index;
  }
}

template <class T>
void require_tokens_as(const Dataset& data, std::int64_t limit, std::string_view who) {
  const std::int64_t row = data.sample_shape().size();
  std::int64_t index = 0;
  for (const T stored : data.inputs.as<T>()) {
    const double id = static_cast<double>(stored) * data.input_scale + data.input_offset;
    if (!(id >= 0.0 && id < static_cast<double>(limit) && std::floor(id) == id)) {
      throw DataError(fmt::format(
          "{}: found {} in element {} of sample {}; {} takes token ids, whole numbers from 0 to "
          "{}; correct the data (or its scale, which is {}), or give the layer a larger vocabulary",
          data.name, id, index % row, data.first + index / row, who, limit - 1, data.input_scale));
    }
    ++index;
  }
}

}  // namespace

void require_tokens(const Dataset& data, std::int64_t limit, std::string_view who) {
  if (data.source != nullptr) {
    return data.source->require(
        [limit, who = std::string(who)](const Dataset& part) { require_tokens(part, limit, who); });
  }
  switch (data.inputs.dtype) {
    case DType::u8:
      return require_tokens_as<std::uint8_t>(data, limit, who);
    case DType::i32:
      return require_tokens_as<std::int32_t>(data, limit, who);
    case DType::i64:
      return require_tokens_as<std::int64_t>(data, limit, who);
    case DType::u32:
      return require_tokens_as<std::uint32_t>(data, limit, who);
    case DType::u64:
      return require_tokens_as<std::uint64_t>(data, limit, who);
    case DType::f32:
      return require_tokens_as<float>(data, limit, who);
    case DType::f64:
      return require_tokens_as<double>(data, limit, who);
    case DType::bf16:
      break;
  }
  throw InternalError("inputs of a dtype that no file holds");
}

void require_targets_within(const Dataset& data, double least, double most, std::string_view who) {
  if (data.source != nullptr) {
    return data.source->require([least, most, who = std::string(who)](const Dataset& part) {
      require_targets_within(part, least, most, who);
    });
  }
  if (data.targets.dtype == DType::f32) {
    require_within<float>(data, least, most, who);
  } else if (data.targets.dtype == DType::f64) {
    require_within<double>(data, least, most, who);
  }
}

}  // namespace zygos::io
