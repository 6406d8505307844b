// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From samples at rest to the dense rows of a batch. Nothing here allocates (except the one
// function that says so): both run inside a training step.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/standards.hpp"
#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace zygos::io {

/// Samples in somebody's host memory, borrowed: a data set's array, or a simulation's own field.
/// Element k of sample i lies at data[i * sample_stride + k * element_stride]; a model sees
/// `value * scale + offset`, standardised where there are standards. Strides count elements and may
/// be zero or negative.
struct Rows {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t samples = 0;
  std::int64_t row_elements = 0;
  std::int64_t sample_stride = 0;
  std::int64_t element_stride = 1;
  double scale = 1.0;
  double offset = 0.0;
  const Standards* standards = nullptr;  ///< borrowed, too
};

/// The two halves of a data set in memory as rows; valid while the data set's arrays live.
struct DatasetRows {
  Rows inputs;
  Rows targets;
};

DatasetRows rows_of(const Dataset& data);

/// 0, 1, ..., count - 1: the samples of a data set in its own order.
std::vector<std::uint32_t> first_ids(std::int64_t count);

/// Writes rows `ids`, converted and scaled, to the dense row-major `out` (ids.size() x
/// row_elements). T is float, double or bf16. Throws UsageError for an id that is not below
/// rows.samples.
template <class T>
void gather(const Rows& rows, std::span<const std::uint32_t> ids, T* out);

/// The inputs of samples `ids`.
template <class T>
void gather(const Dataset& data, std::span<const std::uint32_t> ids, T* out);

/// The targets of samples `ids` as numbers (regression).
template <class T>
void gather_targets(const Dataset& data, std::span<const std::uint32_t> ids, T* out);

/// The labels of rows `ids`, neither scaled nor offset. Throws UsageError when the rows are not
/// integers or a label does not fit into 32 bits.
void gather_labels(const Rows& rows, std::span<const std::uint32_t> ids, std::int32_t* out);
void gather_labels(const Dataset& data, std::span<const std::uint32_t> ids, std::int32_t* out);

/// Overwrites `order` with the samples 0 .. order.size()-1 in the order of one epoch: a
/// permutation that is a pure function of (seed, epoch, size), or 0, 1, 2, ... without `shuffle`.
void fill_epoch_order(std::uint64_t seed, std::uint64_t epoch, bool shuffle,
                      std::span<std::uint32_t> order);

/// The same in a new vector. Throws UsageError for a negative `samples` or one above 2^32 - 1.
std::vector<std::uint32_t> epoch_order(std::uint64_t seed, std::uint64_t epoch,
                                       std::int64_t samples, bool shuffle);

extern template void gather<float>(const Rows&, std::span<const std::uint32_t>, float*);
extern template void gather<double>(const Rows&, std::span<const std::uint32_t>, double*);
extern template void gather<bf16>(const Rows&, std::span<const std::uint32_t>, bf16*);
extern template void gather<float>(const Dataset&, std::span<const std::uint32_t>, float*);
extern template void gather<double>(const Dataset&, std::span<const std::uint32_t>, double*);
extern template void gather_targets<float>(const Dataset&, std::span<const std::uint32_t>, float*);
extern template void gather_targets<double>(const Dataset&, std::span<const std::uint32_t>,
                                            double*);

}  // namespace zygos::io
