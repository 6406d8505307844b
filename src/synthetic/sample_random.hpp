// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/core/philox.hpp"

#include <cstddef>
#include <cstdint>

namespace zygos::synthetic {

/// The random numbers of one sample, in the order they are asked for.
class SampleRandom {
 public:
  SampleRandom(std::uint64_t seed, RngPurpose purpose, std::uint64_t sample)
      : key_{seed, purpose, 0}, sample_(sample) {}
  std::uint32_t word() {
    if (used_ == 4) {
      block_ = random_block(key_, sample_, next_++);
      used_ = 0;
    }
    return block_.v[used_++];
  }
  /// Uniform in [low, high).
  float between(float low, float high) { return low + (high - low) * uniform_float(word()); }
  /// Uniform in [-amplitude, amplitude).
  float around(float amplitude) { return between(-amplitude, amplitude); }

 private:
  RngKey key_;
  std::uint64_t sample_;
  std::uint32_t next_ = 0;
  std::size_t used_ = 4;
  PhiloxBlock block_{};
};

}  // namespace zygos::synthetic
