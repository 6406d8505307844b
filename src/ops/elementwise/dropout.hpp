// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/common/launch.hpp"
#include "ops/elementwise/random_words.hpp"

#include "zygos/core/philox.hpp"
#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// Which features of a whole layer the columns of a slice are: runs of `length`, `stride` apart,
/// from `first` on. The mask of a slice is then that of the same features of the whole layer.
struct FeatureRuns {
  std::uint32_t first = 0;
  std::uint32_t length = 0;  ///< 0: the columns are the features
  std::uint32_t stride = 0;
};

/// The mask of a layer at a step: which words of which stream, and what becomes of a feature.
struct DropoutMask {
  RngKey key;               ///< with `step_on_lane` that of the run: see key_of()
  std::uint32_t threshold;  ///< a feature is dropped if its random word lies below
  double factor;            ///< 1 / (1 - rate)
  FeatureRuns features{};   ///< of the whole layer
  const std::uint64_t* step_on_lane = nullptr;  ///< read when a kernel runs
};

/// Of each feature: ten rounds of about eight integer operations give four of them their words.
inline constexpr double dropout_operations = 20.0;

/// SplitMix64 (Steele, Lea, Flood, 2014).
constexpr std::uint64_t split_mix(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}
static_assert(split_mix(0) == 0xE220A8397B1DCDAFu, "first value of the published generator");

/// The key of a step, of the run's. The step is hashed into the seed, because sample id and feature
/// fill the counter.
constexpr RngKey key_at_step(const RngKey& key, std::uint64_t step) {
  return {split_mix(key.seed ^ split_mix(step)), key.purpose, key.stream};
}

/// Feature f of a sample takes word f % 4 of block f / 4. `step_on_lane`: null, or in the lane's
/// memory the step that counts when a kernel runs, in place of `step`.
DropoutMask dropout_mask(std::uint64_t seed, std::uint64_t step, std::uint32_t layer, double rate,
                         const std::uint64_t* step_on_lane = nullptr);

/// The key that a mask's words are drawn with, for kernels.
KOKKOS_INLINE_FUNCTION RngKey key_of(const DropoutMask& mask) {
  return mask.step_on_lane == nullptr ? mask.key : key_at_step(mask.key, *mask.step_on_lane);
}

/// A mask as a kernel of the space takes it: a host, which runs it at once, reads the step before.
template <class Exec>
DropoutMask launched(DropoutMask mask) {
  if constexpr (HostSpace<Exec>) {
    mask.key = key_of(mask);
    mask.step_on_lane = nullptr;
  }
  return mask;
}

/// The words of blocks [first, first + blocks) of a sample, for kernels.
template <std::size_t blocks>
KOKKOS_FUNCTION void draw_words(const RngKey& key, std::uint32_t sample_id, std::uint32_t first,
                                std::uint32_t (&words)[4 * blocks]) {
  if constexpr (blocks == blocks_together) {
    KOKKOS_IF_ON_HOST((random_words(key, sample_id, first, words);))
    KOKKOS_IF_ON_DEVICE((Kokkos::abort("zygos::ops::draw_words: so many only on a host");))
  } else {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const PhiloxBlock drawn = random_block(key, sample_id, first + b);
      words[4 * b] = drawn.v[0];
      words[4 * b + 1] = drawn.v[1];
      words[4 * b + 2] = drawn.v[2];
      words[4 * b + 3] = drawn.v[3];
    }
  }
}

/// y = x * mask * factor; y may be x. Forward and backward alike.
template <class Exec, class T>
void apply_dropout(const Exec& exec, const DropoutMask& mask,
                   VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
                   MatrixView<Exec, T> y);

/// y = x * mask * factor + residual in one pass, rounded once where T is bf16; else the bits of
/// apply_dropout and a sum after it. y may be x or residual.
template <class Exec, class T>
void dropout_add(const Exec& exec, const DropoutMask& mask,
                 VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
                 MatrixView<Exec, const T> residual, MatrixView<Exec, T> y);

}  // namespace zygos::ops
