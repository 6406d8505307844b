// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/stored_tensor.hpp"

#include <cstddef>
#include <span>

namespace zygos::io {

/// Tensors that are read piece by piece, wherever they are: nobody needs memory for all of them.
class TensorSource {
 public:
  TensorSource() = default;
  virtual ~TensorSource() = default;
  TensorSource(const TensorSource&) = delete;
  TensorSource& operator=(const TensorSource&) = delete;

  /// Names, types and shapes; `data` are not looked at. Valid as long as the source.
  virtual std::span<const TensorRef> tensors() const = 0;
  /// Whole elements of a tensor, by its number in tensors(): `out.size()` bytes from byte `begin`
  /// on, row major, into memory of any alignment. The same bytes each time. May throw any Error.
  virtual void read(std::size_t tensor, std::size_t begin, std::span<std::byte> out) = 0;
};

}  // namespace zygos::io
