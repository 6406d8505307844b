// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zygos::io {

/// A named tensor in host memory, borrowed for the duration of a call.
struct TensorRef {
  std::string name;  ///< hierarchical, "weights/fc1/kernel"
  DType dtype = DType::f32;
  Shape shape;
  const void* data = nullptr;
};

/// A named tensor read back, owning its bytes.
struct StoredTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;

  TensorRef ref() const { return {name, dtype, shape, bytes.data()}; }
};

}  // namespace zygos::io
