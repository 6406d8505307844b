// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/batching.hpp"

#include "io/permutation.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

namespace zygos::io {
namespace {

constexpr std::size_t rows_ahead = 2;

void require_id(const Rows& rows, std::uint32_t id) {
  if (std::int64_t{id} >= rows.samples) {
    throw UsageError("sample " + std::to_string(id) + " was asked for, there are only " +
                     std::to_string(rows.samples));
  }
}

/// One row of unit stride: the loop a compiler turns into vector loads, conversions and stores.
template <class Stored, class T>
void convert_dense(const Stored* __restrict__ source, std::int64_t count, Wide<T> scale,
                   Wide<T> offset, T* __restrict__ out) {
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] = static_cast<T>(static_cast<Wide<T>>(source[k]) * scale + offset);
  }
}

template <class Stored, class T>
void convert_strided(const Stored* source, std::int64_t stride, std::int64_t count, Wide<T> scale,
                     Wide<T> offset, T* out) {
  for (std::int64_t k = 0; k < count; ++k) {
    out[k] = static_cast<T>(static_cast<Wide<T>>(source[k * stride]) * scale + offset);
  }
}

/// Shuffled rows lie where no hardware prefetcher expects them: ask for one ahead of its turn.
/// Halves the time of a batch of MNIST out of a set larger than the caches.
void prefetch(const std::byte* row, std::int64_t bytes) {
  constexpr std::int64_t cache_line = 64;
  constexpr std::int64_t most = 64 * cache_line;  // beyond, the hardware sees the pattern itself
  for (std::int64_t at = 0; at < std::min(bytes, most); at += cache_line) {
    __builtin_prefetch(row + at);
  }
}

/// (x - shift) / scale of x = value * scale + offset, in double as infer::Model does it.
template <class Stored, class T>
void convert_standardised(const Stored* source, const Rows& rows, T* out) {
  const auto scale = static_cast<Wide<T>>(rows.scale);
  const auto offset = static_cast<Wide<T>>(rows.offset);
  const Standards& standards = *rows.standards;
  const std::int64_t run = rows.row_elements / standards.columns();
  for (std::size_t column = 0; column < standards.shift.size(); ++column) {
    const double shift = standards.shift[column];
    const double spread = standards.scale[column];
    for (std::int64_t k = 0; k < run; ++k, source += rows.element_stride) {
      const Wide<T> seen = static_cast<Wide<T>>(*source) * scale + offset;
      *out++ = static_cast<T>(static_cast<Wide<T>>((static_cast<double>(seen) - shift) / spread));
    }
  }
}

template <class Stored, class T>
void gather_as(const Rows& rows, std::span<const std::uint32_t> ids, T* out) {
  const auto* data = static_cast<const Stored*>(rows.data);
  const auto scale = static_cast<Wide<T>>(rows.scale);
  const auto offset = static_cast<Wide<T>>(rows.offset);
  const bool plain_copy = std::is_same_v<Stored, T> && rows.scale == 1.0 && rows.offset == 0.0;
  const bool dense = rows.element_stride == 1;
  const std::int64_t count = rows.row_elements;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require_id(rows, ids[i]);
    if (dense && i + rows_ahead < ids.size() && ids[i + rows_ahead] < rows.samples) {
      const Stored* later = data + std::int64_t{ids[i + rows_ahead]} * rows.sample_stride;
      prefetch(reinterpret_cast<const std::byte*>(later), count * std::int64_t{sizeof(Stored)});
    }
    const Stored* source = data + std::int64_t{ids[i]} * rows.sample_stride;
    if (rows.standards != nullptr) {
      convert_standardised(source, rows, out);
    } else if (!dense) {
      convert_strided(source, rows.element_stride, count, scale, offset, out);
    } else if (plain_copy) {
      std::memcpy(out, source, static_cast<std::size_t>(count) * sizeof(T));
    } else {
      convert_dense(source, count, scale, offset, out);
    }
    out += count;
  }
}

template <class Stored>
void gather_labels_as(const Rows& rows, std::span<const std::uint32_t> ids, std::int32_t* out) {
  const auto* data = static_cast<const Stored*>(rows.data);
  for (const std::uint32_t id : ids) {
    require_id(rows, id);
    const Stored* const row = data + std::int64_t{id} * rows.sample_stride;
    for (std::int64_t k = 0; k < rows.row_elements; ++k) {
      const Stored label = row[k * rows.element_stride];
      if (!std::in_range<std::int32_t>(label)) {
        throw UsageError("label " + std::to_string(label) + " of sample " + std::to_string(id) +
                         " does not fit into 32 bits");
      }
      *out++ = static_cast<std::int32_t>(label);
    }
  }
}

Rows rows_of(const Array& array, double scale, double offset,
             const std::shared_ptr<const Standards>& standards) {
  const std::int64_t samples = array.samples();
  const std::int64_t elements = samples == 0 ? 0 : array.shape.size() / samples;
  return {.data = array.data.get(),
          .dtype = array.dtype,
          .samples = samples,
          .row_elements = elements,
          .sample_stride = elements,
          .element_stride = 1,
          .scale = scale,
          .offset = offset,
          .standards = standards.get()};
}

}  // namespace

DatasetRows rows_of(const Dataset& data) {
  if (data.source != nullptr) {
    throw UsageError(data.name + ": the samples are not in memory; take them from a BatchFeed");
  }
  return {rows_of(data.inputs, data.input_scale, data.input_offset, data.input_standards),
          rows_of(data.targets, 1.0, 0.0, data.target_standards)};
}

std::vector<std::uint32_t> first_ids(std::int64_t count) {
  std::vector<std::uint32_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

template <class T>
void gather(const Rows& rows, std::span<const std::uint32_t> ids, T* out) {
  switch (rows.dtype) {
    case DType::u8:
      return gather_as<std::uint8_t>(rows, ids, out);
    case DType::i32:
      return gather_as<std::int32_t>(rows, ids, out);
    case DType::i64:
      return gather_as<std::int64_t>(rows, ids, out);
    case DType::u32:
      return gather_as<std::uint32_t>(rows, ids, out);
    case DType::u64:
      return gather_as<std::uint64_t>(rows, ids, out);
    case DType::f32:
      return gather_as<float>(rows, ids, out);
    case DType::f64:
      return gather_as<double>(rows, ids, out);
    case DType::bf16:
      break;
  }
  throw InternalError("rows of a dtype that no file holds");
}

template <class T>
void gather(const Dataset& data, std::span<const std::uint32_t> ids, T* out) {
  gather(rows_of(data).inputs, ids, out);
}

template <class T>
void gather_targets(const Dataset& data, std::span<const std::uint32_t> ids, T* out) {
  gather(rows_of(data).targets, ids, out);
}

void gather_labels(const Rows& rows, std::span<const std::uint32_t> ids, std::int32_t* out) {
  switch (rows.dtype) {
    case DType::u8:
      return gather_labels_as<std::uint8_t>(rows, ids, out);
    case DType::i32:
      return gather_labels_as<std::int32_t>(rows, ids, out);
    case DType::i64:
      return gather_labels_as<std::int64_t>(rows, ids, out);
    case DType::u32:
      return gather_labels_as<std::uint32_t>(rows, ids, out);
    case DType::u64:
      return gather_labels_as<std::uint64_t>(rows, ids, out);
    case DType::f32:
    case DType::f64:
    case DType::bf16:
      break;
  }
  throw UsageError("labels are integers, these rows hold " + std::string(name_of(rows.dtype)) +
                   "; use gather() for regression targets");
}

void gather_labels(const Dataset& data, std::span<const std::uint32_t> ids, std::int32_t* out) {
  gather_labels(rows_of(data).targets, ids, out);
}

void fill_epoch_order(std::uint64_t seed, std::uint64_t epoch, bool shuffle,
                      std::span<std::uint32_t> order) {
  if (shuffle) {
    return permute({seed, RngPurpose::shuffle, 0}, epoch, order);
  }
  std::iota(order.begin(), order.end(), std::uint32_t{0});
}

std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch,
                                       std::int64_t samples, bool shuffle) {
  if (!std::in_range<std::uint32_t>(samples)) {
    throw UsageError(std::to_string(samples) +
                     " samples cannot be ordered; allowed are 0 to 4294967295");
  }
  std::vector<std::uint32_t> order(static_cast<std::size_t>(samples));
  fill_epoch_order(seed, epoch, shuffle, order);
  return order;
}

template void gather<float>(const Rows&, std::span<const std::uint32_t>, float*);
template void gather<double>(const Rows&, std::span<const std::uint32_t>, double*);
template void gather<bf16>(const Rows&, std::span<const std::uint32_t>, bf16*);
template void gather<float>(const Dataset&, std::span<const std::uint32_t>, float*);
template void gather<double>(const Dataset&, std::span<const std::uint32_t>, double*);
template void gather_targets<float>(const Dataset&, std::span<const std::uint32_t>, float*);
template void gather_targets<double>(const Dataset&, std::span<const std::uint32_t>, double*);

}  // namespace zygos::io
