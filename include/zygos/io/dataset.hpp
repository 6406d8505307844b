// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

namespace zygos::io {

/// A dense row-major array in host memory; the first extent counts samples. Shares its bytes.
struct Array {
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const std::byte> data;

  std::int64_t samples() const { return shape.rank() == 0 ? 0 : shape[0]; }
};

/// Samples with their targets, in the element type they were stored in. A model sees
/// `value * input_scale + input_offset`, converted while a batch is gathered, so that bytes on disk
/// stay bytes in memory.
struct Dataset {
  std::string name;             ///< for messages: the file or "glyphs"
  Array inputs;                 ///< (N, sample shape)
  Array targets;                ///< labels: (N) of i32; regression: (N, target shape) of f32 or f64
  std::int64_t classes = 0;     ///< number of labels, 0 for regression
  double input_scale = 1.0;
  double input_offset = 0.0;

  std::int64_t size() const { return inputs.samples(); }
  /// inputs.shape without the sample extent
  Shape sample_shape() const;
  /// targets.shape without the sample extent: rank 0 for labels
  Shape target_shape() const;
};

}  // namespace zygos::io
