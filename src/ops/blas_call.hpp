// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace zygos::ops {

/// Keep one alive around every call of the host's BLAS. The first one tells the library to compute
/// on the calling thread. A library that is not safe for several callers gets one at a time.
class BlasCall {
 public:
  BlasCall();

 private:
  std::unique_lock<std::mutex> turn_;
};

/// True if the library found at run time serves one caller at a time: products are right, but
/// threads and lanes wait for each other.
bool blas_takes_turns();

}  // namespace zygos::ops
