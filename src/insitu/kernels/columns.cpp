// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/columns.hpp"

#include "ops/elementwise/copy_samples.hpp"

#include "zygos/core/error.hpp"

#include <string>

namespace zygos::insitu {
namespace {

Part part_of(const infer::Samples& view) {
  ops::SampleLayout layout;
  layout.rank = view.shape.rank();
  std::int64_t dense = 1;
  for (std::size_t axis = layout.rank; axis-- > 0;) {
    layout.dimensions[axis] = view.shape[axis];
    layout.from[axis] = view.strides[axis];
    layout.to[axis] = dense;
    dense *= view.shape[axis];
  }
  const ops::SampleLayout axes = ops::joined(layout);
  Part part{view.data, view.dtype, view.stride, view.shape.size(), axes.rank, {}, {}};
  part.dimensions = axes.dimensions;
  part.strides = axes.from;
  return part;
}

}  // namespace

Columns columns_of(std::span<const infer::Samples> views) {
  if (views.size() > Columns::max_parts) {
    throw UsageError(std::to_string(views.size()) +
                     " Views were given for one sample; allowed are " +
                     std::to_string(Columns::max_parts));
  }
  Columns columns;
  for (const infer::Samples& view : views) {
    columns.parts[columns.count] = part_of(view);
    columns.width += columns.parts[columns.count++].width;
    columns.samples = view.count;
  }
  return columns;
}

Rows rows_of(const Tensor& tensor) {
  return {tensor.raw(), tensor.dtype(), as_matrix(tensor.shape()).columns};
}

}  // namespace zygos::insitu
