// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/error.hpp"
#include "zygos/core/shape.hpp"

#include <cstddef>
#include <type_traits>

namespace zygos {

/// A typed, shaped window into a lane's arena (or a caller's memory). Row major, dense, borrowed:
/// whoever owns the memory outlives the tensor. Which lane the address belongs to is known by who
/// made it; a layer only ever sees tensors of its own lane.
class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, DType dtype, Shape shape) : data_(data), dtype_(dtype), shape_(shape) {}

  /// False for a default-made tensor: "not wanted" (such as the input gradient of a first layer).
  explicit operator bool() const noexcept { return data_ != nullptr; }
  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::int64_t size() const noexcept { return data_ == nullptr ? 0 : shape_.size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype_); }
  void* raw() const noexcept { return data_; }

  /// Typed address; throws InternalError if T is not the tensor's dtype. T may be const.
  template <class T>
  T* data() const {
    ZYGOS_REQUIRE(data_ == nullptr || dtype_ == dtype_of<std::remove_const_t<T>>,
                  "tensor holds another element type");
    return static_cast<T*>(data_);
  }

  /// The first `count` samples of a tensor whose first extent counts samples.
  Tensor first(std::int64_t count) const { return samples(0, count); }
  /// `count` samples of it from sample `begin` on.
  Tensor samples(std::int64_t begin, std::int64_t count) const;
  /// The same elements under another shape; throws InternalError if the sizes differ.
  Tensor reshaped(const Shape& shape) const;

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_;
};

/// Rows and columns when everything after the first extent is flattened: (N, C, H, W) -> N x CHW.
struct MatrixExtents {
  std::int64_t rows;
  std::int64_t columns;
};
MatrixExtents as_matrix(const Shape& shape);

}  // namespace zygos
