// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "infer/shared_block.hpp"
#include "ops/elementwise/copy_samples.hpp"

#include "zygos/core/shape.hpp"
#include "zygos/core/standards.hpp"
#include "zygos/lane/spaces.hpp"

#include <cstdint>

namespace zygos::infer {

/// What lies between a caller's units and the numbers that a network works with.
class UnitStandards {
 public:
  /// Throws UsageError unless the columns are those of the samples.
  UnitStandards(const Shape& input, const Standards& inputs, const Shape& output,
                const Standards& outputs);

  /// As kernels on an instance read them; `shift` is null where nothing changes.
  struct Bound {
    ops::SampleStandards inputs;
    ops::SampleStandards outputs;
  };
  Bound bind(const lane::Execution& execution);

 private:
  std::int64_t input_columns_;
  std::int64_t input_run_;  ///< elements of a column
  std::int64_t output_columns_;
  std::int64_t output_run_;
  SharedBlock block_;  ///< shifts and scales of inputs, then those of outputs
};

}  // namespace zygos::infer
