// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/adjacency.hpp"
#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"
#include "zygos/core/standards.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::io {

class SampleSource;

/// A dense row-major array in host memory; the first extent counts samples. Shares its bytes.
struct Array {
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const std::byte> data;

  std::int64_t samples() const { return shape.rank() == 0 ? 0 : shape[0]; }
  /// Bytes of the whole array.
  std::size_t bytes() const;
  /// The elements; T must be the stored type, and the bytes in memory (UsageError otherwise).
  template <class T>
  std::span<const T> as() const {
    require_readable(dtype_of<T>);
    return {reinterpret_cast<const T*>(data.get()), static_cast<std::size_t>(shape.size())};
  }

 private:
  void require_readable(DType wanted) const;
};

/// The label that a loss ignores (`ignore_index`), where a sample has several.
inline constexpr std::int32_t ignored_label = -1;

/// Samples with their targets, in the element type they were stored in. A model sees
/// `value * input_scale + input_offset`, standardised if there are standards, converted while a
/// batch is gathered, so that bytes on disk stay bytes in memory.
struct Dataset {
  std::string name;          ///< for messages: the file or "glyphs"
  Array inputs;              ///< (N, sample shape)
  Array targets;             ///< (N, target shape): labels of i32, or numbers of f32 or f64
  std::int64_t classes = 0;  ///< number of labels, 0 for regression
  double input_scale = 1.0;
  double input_offset = 0.0;
  /// Not null: the arrays have type and shape, but no bytes; batches are read when they are needed.
  std::shared_ptr<SampleSource> source{};
  std::int64_t prefetch = 4;  ///< batches that are read ahead then
  std::int64_t first = 0;     ///< number of the first sample, for messages: not 0 in parts of a set
  std::shared_ptr<const Standards> input_standards{};   ///< null: inputs are not standardised
  std::shared_ptr<const Standards> target_standards{};  ///< likewise; of numbers
  std::vector<std::string> input_names{};               ///< of a table's columns, if it has names
  std::vector<std::string> class_names{};  ///< texts that labels 0, 1, ... stand for, if any
  SampleGraph graph{};  ///< what connects the nodes that samples (nodes, features) consist of

  std::int64_t size() const { return inputs.samples(); }
  /// inputs.shape without the sample extent
  Shape sample_shape() const;
  /// targets.shape without the sample extent: rank 0 for one label per sample
  Shape target_shape() const;
};

/// What every reader of a data set lets its caller say.
struct LoadOptions {
  std::int64_t classes = 0;  ///< 0: the largest label + 1
  /// Whether the loss takes labels; none: what the targets' type says. Other targets are refused;
  /// only .npy and .npz may have numbers as integers.
  std::optional<bool> labels{};
  std::optional<double> input_scale;  ///< without: 1/255 for bytes (pixels), 1 for anything else
  double input_offset = 0.0;
  std::int64_t max_samples = 0;  ///< IDX and CIFAR-10: stop after so many; 0: all there are
};

/// Uninitialised bytes, aligned for every element type. Throws MemoryError that names `what`.
std::shared_ptr<std::byte> allocate_bytes(std::size_t bytes, std::string_view what);

namespace detail {
Array copy_to_array(DType dtype, const Shape& shape, const void* values, std::size_t count);
}  // namespace detail

/// A copy of `values`; throws UsageError when their number is not `shape.size()`.
template <class T>
Array make_array(const Shape& shape, std::span<const T> values) {
  return detail::copy_to_array(dtype_of<T>, shape, values.data(), values.size());
}

/// Throws DataError unless counts, types and label range are what Dataset promises. Of a sample
/// with several labels some, but not all, may be ignored_label. The readers check more closely
/// themselves; this is for data sets made by hand.
void check(const Dataset& data);

/// Throws DataError for the first regression target outside of [least, most]. `who` asks for it,
/// for the message. Of samples that are not in memory: when they are read. So does the next one.
void require_targets_within(const Dataset& data, double least, double most, std::string_view who);

/// Throws DataError for the first input that is, as a model sees it, no whole number in [0, limit).
/// `who` reads them as token ids, for the message.
void require_tokens(const Dataset& data, std::int64_t limit, std::string_view who);

}  // namespace zygos::io
