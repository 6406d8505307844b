// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the readers of every format ask of the arrays they have read.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace zygos::io {

/// Names the place of element `index` for a message: "labels.idx: byte 12".
using Where = std::function<std::string(std::int64_t index)>;

inline bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

/// Labels as Dataset wants them, with the number of classes they need.
struct Labels {
  Array array;
  std::int64_t classes = 0;
};

/// Narrows integers of any type to i32. `classes` 0 means the largest label + 1; otherwise a label
/// that is not below it is refused, as is a negative one (DataError).
Labels to_labels(const Array& integers, std::int64_t classes, const Where& where);

/// Throws DataError for the first label outside of [0, classes), whatever the integers' type.
/// `first` is the number of the array's first sample in its file.
void require_labels(const Array& integers, std::int64_t classes, const Where& where,
                    std::int64_t first);

/// Throws DataError for the first NaN or infinity; integers pass.
void require_finite(const Array& array, const Where& where, std::int64_t first = 0);

/// The same of `count` samples in memory that a reader has filled.
void require_finite(DType dtype, const Shape& samples, const std::byte* data, const Where& where,
                    std::int64_t first);

/// Throws UsageError for options that no file can satisfy.
void require_options(const LoadOptions& options);

/// Throws DataError unless both hold the same number of samples.
void require_same_count(const Array& inputs, const std::string& inputs_name, const Array& targets,
                        const std::string& targets_name);

/// [N] becomes [N, 1], so that a sample always has an extent; others stay.
Array with_sample_extent(Array array);

double input_scale(const LoadOptions& options, DType dtype);

}  // namespace zygos::io
