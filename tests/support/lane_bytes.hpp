// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of an execution space's memory. Not a Kokkos View of elements: for each type of these a
// compiler for a device translates ten kernels that fill and copy, in every file of tests.
#pragma once

#include "zygos/lane/spaces.hpp"
#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <span>

namespace zygos::testing {

class LaneBytes {
 public:
  /// Not initialised.
  LaneBytes(const lane::Execution& execution, std::size_t bytes);

  std::byte* data() const noexcept { return block_.get(); }
  /// Both copy everything, and return when that is done. `host` has as many bytes.
  void copy_from(std::span<const std::byte> host) const;
  void copy_to(std::span<std::byte> host) const;

 private:
  lane::Execution execution_;
  memory::Block block_;
};

}  // namespace zygos::testing
