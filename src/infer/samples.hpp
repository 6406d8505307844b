// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/elementwise/copy_samples.hpp"

#include "zygos/graph/graph.hpp"
#include "zygos/infer/samples.hpp"
#include "zygos/lane/execution.hpp"
#include "zygos/tensor/tensor.hpp"

#include <cstdint>
#include <span>

namespace zygos::infer {

/// Throws UsageError unless inputs and outputs are samples of the graph, as many of each.
void require_fit(const graph::Graph& graph, std::span<const Samples> inputs,
                 const Samples& outputs);

/// Whether the memory of both may have bytes in common.
bool overlap(const Samples& one, const Samples& other);

/// The elements of each of a dense tensor's samples from `first` on, which have this shape.
Samples samples_in(const Tensor& tensor, std::int64_t first, const Shape& shape);

/// to = from, converted, and changed as `standards` say. Both have the same number of samples, and
/// samples of the same shape.
void copy_samples(const lane::Execution& execution, const Samples& from, const Samples& to,
                  const ops::SampleStandards& standards = {});

}  // namespace zygos::infer
