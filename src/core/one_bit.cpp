// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/one_bit.hpp"

namespace zygos {
namespace {

/// Refreshes up to a step, and the last of them.
struct Refreshes {
  std::int64_t count = 0;
  std::int64_t last = 0;  ///< 0: there is none yet
};

Refreshes refreshes_until(const OneBitSteps& steps, std::int64_t step) {
  Refreshes found;
  std::int64_t distance = 1;
  for (std::int64_t begin = steps.after; steps.refresh > 0 && begin < step; distance *= 2) {
    const std::int64_t reached = (step - begin) / distance;
    const std::int64_t count = reached < steps.refresh ? reached : steps.refresh;
    if (count > 0) {
      found = {found.count + count, begin + count * distance};
    }
    if (count < steps.refresh) {
      break;
    }
    begin = found.last;
  }
  return found;
}

}  // namespace

bool OneBitSteps::compresses(std::int64_t step) const {
  return after > 0 && last_exact(step) != step;
}

std::int64_t OneBitSteps::last_exact(std::int64_t step) const {
  if (after == 0 || step <= after) {
    return step;
  }
  const Refreshes refreshes = refreshes_until(*this, step);
  return refreshes.count > 0 ? refreshes.last : after;
}

std::int64_t OneBitSteps::exact_among(std::int64_t steps) const {
  return after == 0 || steps <= after ? steps : after + refreshes_until(*this, steps).count;
}

}  // namespace zygos
