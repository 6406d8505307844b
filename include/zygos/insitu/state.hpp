// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What a restart needs, as named tensors in host memory. Where they are kept is the simulation's
// choice: a byte buffer of its own, a group of its HDF5 file (zygos/insitu/hdf5.hpp), anything that
// stores arrays by name.
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::insitu {

struct StoredTensor {
  std::string name;  ///< hierarchical: "weights/hidden1/kernel", "reservoir/inputs"
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;  ///< row major
};

struct State {
  std::vector<StoredTensor> tensors;

  /// Throws CheckpointError if there is none of that name, or if it has another type or shape.
  const StoredTensor& tensor(std::string_view name, DType dtype, const Shape& shape) const;
  /// Whether there is one of that name.
  bool has(std::string_view name) const;
  /// The tensors of both.
  State& operator+=(State other);
};

/// One buffer for all of it. Numbers lie there in this machine's byte order.
std::vector<std::byte> to_bytes(const State& state);
/// Throws CheckpointError for a buffer that is cut off or is not one of to_bytes().
State from_bytes(std::span<const std::byte> bytes);

}  // namespace zygos::insitu
