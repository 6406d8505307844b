// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/numpy_dataset.hpp"

#include "io/byte_source.hpp"
#include "io/checks.hpp"
#include "io/samples/npy.hpp"
#include "io/weights/npz.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/batching.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace zygos::io {
namespace {

/// An array with what messages call it.
struct NamedArray {
  std::string name;
  Array array;
};

NamedArray named(std::string name, StoredTensor tensor) {
  if (tensor.shape.rank() == 0 || tensor.shape.size() == 0) {
    throw DataError(name + ": found an array of shape " + tensor.shape.text() +
                    "; a data set needs at least one sample with one element");
  }
  const auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(tensor.bytes));
  return {std::move(name), {tensor.dtype, tensor.shape, {bytes, bytes->data()}}};
}

Where element_of(const NamedArray& array) {
  return [&array](std::int64_t index) { return array.name + ": element " + std::to_string(index); };
}

/// Integers as numbers.
Array as_doubles(const Array& array) {
  Dataset rows;
  rows.inputs = rows.targets = array;
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(array.samples()));
  std::iota(ids.begin(), ids.end(), 0U);
  const auto room =
      allocate_bytes(static_cast<std::size_t>(array.shape.size()) * sizeof(double), "targets");
  gather_targets(rows, ids, reinterpret_cast<double*>(room.get()));
  return {DType::f64, array.shape, room};
}

void take_targets(const NamedArray& targets, const LoadOptions& options, Dataset& data) {
  const Array& array = targets.array;
  const bool floating = is_floating(array.dtype);
  const bool labels = options.labels.value_or(!floating);
  if (labels && floating) {
    throw DataError(targets.name + ": found " + std::string(name_of(array.dtype)) +
                    " targets, but the loss takes labels; store targets as integers "
                    "(targets.astype('int32')), or take a loss of numbers such as mse");
  }
  if (labels) {
    Labels found = to_labels(array, options.classes, element_of(targets));
    data.targets = std::move(found.array);
    if (data.targets.shape.rank() == 2 && data.targets.shape[1] == 1) {
      data.targets.shape = Shape{data.targets.shape[0]};
    }
    data.classes = found.classes;
    return;
  }
  require_finite(array, element_of(targets));
  data.targets = with_sample_extent(floating ? array : as_doubles(array));
}

Dataset dataset_of(const NamedArray& inputs, const NamedArray& targets,
                   const LoadOptions& options) {
  require_same_count(inputs.array, inputs.name, targets.array, targets.name);
  require_finite(inputs.array, element_of(inputs));
  Dataset data;
  data.name = inputs.name;
  data.inputs = with_sample_extent(inputs.array);
  take_targets(targets, options, data);
  data.input_scale = input_scale(options, data.inputs.dtype);
  data.input_offset = options.input_offset;
  return data;
}

NamedArray array_in(WeightFile& content, const std::filesystem::path& file,
                    const std::string& name) {
  const std::string where = file.string() + ": array '" + name + "'";
  if (const auto found = content.unreadable.find(name); found != content.unreadable.end()) {
    throw DataError(where + ": found elements of type '" + found->second +
                    "'; allowed are float16, float32, float64, uint8, int32, int64, uint32 and "
                    "uint64, little endian; store array.astype('float32') or ('int32')");
  }
  const auto found = std::ranges::find(content.tensors, name, &StoredTensor::name);
  if (found != content.tensors.end()) {
    return named(where, std::move(*found));
  }
  std::string known;
  for (const StoredTensor& tensor : content.tensors) {
    known += (known.empty() ? "" : ", ") + tensor.name;
  }
  throw DataError(where + " is not there; the file has " + (known.empty() ? "no array" : known));
}

}  // namespace

Dataset load_npy_dataset(const std::filesystem::path& inputs, const std::filesystem::path& targets,
                         const LoadOptions& options) {
  require_options(options);
  return dataset_of(named(inputs.string(), read_npy(inputs)),
                    named(targets.string(), read_npy(targets)), options);
}

Dataset load_npz_dataset(const std::filesystem::path& file, const std::string& inputs,
                         const std::string& targets, const LoadOptions& options) {
  require_options(options);
  require_readable_file(file);
  WeightFile content = read_npz(file, {inputs, targets});
  NamedArray targets_array = array_in(content, file, targets);
  return dataset_of(inputs == targets ? targets_array : array_in(content, file, inputs),
                    targets_array, options);
}

}  // namespace zygos::io
