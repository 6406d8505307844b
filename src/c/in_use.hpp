// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/error.hpp"

#include <atomic>

namespace zygos::c {

/// A handle for the length of a call. Throws UsageError with `refusal` while another thread has it.
class InUse {
 public:
  InUse(std::atomic_flag& flag, const char* refusal) : flag_(flag) {
    if (flag.test_and_set(std::memory_order_acquire)) {
      throw UsageError(refusal);
    }
  }
  ~InUse() { flag_.clear(std::memory_order_release); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace zygos::c
