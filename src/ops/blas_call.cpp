// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenBLAS built without threads and without USE_LOCKING (such as Debian's serial flavour, 0.3.21)
// hands its packing buffers out without a lock: two callers at the same moment may get the same
// one and silently compute wrong products. Its threaded flavours lock, so they are what a host lane
// wants, held to one thread per call. This setting belongs to the process and not to a lane,
// because that is all the library offers.
#include "ops/blas_call.hpp"

#include <cblas.h>

// Only OpenBLAS has these; with another library their addresses are null.
#pragma weak openblas_get_parallel
#pragma weak openblas_set_num_threads

namespace zygos::ops {
namespace {

constexpr int openblas_sequential = 0;  // OPENBLAS_SEQUENTIAL, which older headers lack

struct Library {
  Library() {
    takes_turns =
        &openblas_get_parallel != nullptr && openblas_get_parallel() == openblas_sequential;
    if (!takes_turns && &openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(1);
    }
  }
  bool takes_turns = false;
  std::mutex turn;
};

Library& library() {
  static Library instance;
  return instance;
}

}  // namespace

BlasCall::BlasCall() {
  Library& blas = library();
  if (blas.takes_turns) {
    turn_ = std::unique_lock(blas.turn);
  }
}

bool blas_takes_turns() { return library().takes_turns; }

}  // namespace zygos::ops
