// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/lane/spaces.hpp"
#include "zygos/memory/arena.hpp"

#include <cstddef>
#include <string>

namespace zygos::insitu {

/// The caller's execution-space instance that last worked with some memory.
class Instance {
 public:
  explicit Instance(const lane::Execution& execution) : execution_(execution) {}

  const lane::Execution& operator*() const noexcept { return execution_; }
  /// From now on work is enqueued on `next`, behind what the one before has to do. Throws
  /// UsageError if that cannot reach the memory, naming `what`.
  void enter(const lane::Execution& next, const char* what);
  bool on_device() const noexcept;
  /// Returns when all work is done; on a host it is when a launch returns.
  void wait(const char* label) const;

  /// Zeroed memory of the instance's space. Throws MemoryError.
  memory::Block allocate(std::size_t bytes, const std::string& label) const;
  /// Zeroed memory that both the host and the instance's kernels can reach.
  memory::Block allocate_shared(std::size_t bytes, const std::string& label) const;
  /// These return when the copy is done.
  void copy_in(void* to, const void* from, std::size_t bytes, const std::string& label) const;
  void copy_out(void* to, const void* from, std::size_t bytes, const std::string& label) const;

 private:
  lane::Execution execution_;
};

}  // namespace zygos::insitu
