// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/checkpoint_store.hpp"

#include <string>

namespace zygos::app {

/// What `inspect` prints of a tensor.
struct TensorStatistics {
  double mean = 0.0;
  double minimum = 0.0;
  double maximum = 0.0;
  bool finite = true;
  std::string hash;  ///< XXH64 of the bytes, 16 hex digits
};

TensorStatistics statistics_of(const io::StoredTensor& tensor);

}  // namespace zygos::app
