// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The HDF5 file of a checkpoint but for the elements of its tensors, and where those lie in it:
// with them in their places it has the bytes of the image that build_image() gives.
#pragma once

#include "io/checkpoint/sparse_file.hpp"

#include "zygos/io/stored_tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace zygos::io {

/// A part of the file: elements of a tensor, all of them, or what HDF5 has written.
struct FilePart {
  static constexpr std::size_t no_tensor = static_cast<std::size_t>(-1);
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::size_t tensor = no_tensor;  ///< its number
};

struct Skeleton {
  SparseFile file;
  std::uint64_t bytes = 0;      ///< of the whole file
  std::vector<FilePart> parts;  ///< in the order of the file, without gaps, all of it
};

/// Of tensors whose `data` are not looked at. Throws as build_image() does.
Skeleton build_skeleton(std::int64_t step, std::span<const TensorRef> tensors);

}  // namespace zygos::io
