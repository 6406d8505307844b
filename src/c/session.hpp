// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/zygos.h"

#include <atomic>
#include <cstdint>

struct zygos_session {
  bool owns_kokkos = false;
  int threads = 1;
  std::atomic<std::int64_t> models{0};  ///< that are not freed yet
};
