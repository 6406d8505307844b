// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace zygos {

/// How the numbers of samples are standardised, by column: (x - shift) / scale. The columns of a
/// vector are its elements, those of a sample with several axes what lies along the first one, such
/// as channels. Empty: numbers stay as they are.
struct Standards {
  std::vector<double> shift;
  std::vector<double> scale;

  bool empty() const noexcept { return shift.empty(); }
  std::int64_t columns() const noexcept { return static_cast<std::int64_t>(shift.size()); }
};

}  // namespace zygos
