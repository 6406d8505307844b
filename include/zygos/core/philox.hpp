// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11).
// Counter based: a number is a pure function of key and counter, so it depends on neither lane,
// thread, micro-batch nor order of evaluation, and there is no state to save in a checkpoint.
// Everything is constexpr, which is what makes it callable from host and device kernels alike.
#pragma once

#include <cstdint>

namespace zygos {

/// What a stream of random numbers is for; part of the key, so that streams never overlap.
enum class RngPurpose : std::uint32_t {
  weights = 1,
  shuffle = 2,
  dropout = 3,
  data = 4,
  noise = 5,
  reservoir = 6,
  split = 7,
  augmentation = 8
};

/// Key of one stream: the run's seed, the purpose and a further number (layer, epoch, ...).
struct RngKey {
  std::uint64_t seed = 0;
  RngPurpose purpose = RngPurpose::weights;
  std::uint32_t stream = 0;
};

struct PhiloxBlock {
  std::uint32_t v[4];
};

/// The bijection itself: ten rounds over `counter` with `key`.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter.v[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter.v[2];
    counter = PhiloxBlock{{static_cast<std::uint32_t>(product1 >> 32) ^ counter.v[1] ^ key0,
                           static_cast<std::uint32_t>(product1),
                           static_cast<std::uint32_t>(product0 >> 32) ^ counter.v[3] ^ key1,
                           static_cast<std::uint32_t>(product0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Four random words at position (`major`, `minor`) of a stream: `major` is a 64-bit number such
/// as the sample id, `minor` counts inside it. The purpose and stream are mixed into the counter's
/// last word, the seed is the Philox key.
constexpr PhiloxBlock random_block(const RngKey& key, std::uint64_t major, std::uint32_t minor) {
  const PhiloxBlock counter{{static_cast<std::uint32_t>(major),
                             static_cast<std::uint32_t>(major >> 32), minor,
                             key.stream ^ (static_cast<std::uint32_t>(key.purpose) << 28)}};
  return philox4x32(counter, static_cast<std::uint32_t>(key.seed),
                    static_cast<std::uint32_t>(key.seed >> 32));
}

/// Uniform in [0, 1) with 24 bits, exact in float.
constexpr float uniform_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0F / 16777216.0F);
}

/// Uniform in [0, 1) with 53 bits from two words.
constexpr double uniform_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 21) ^ (std::uint64_t{low} >> 11);
  return static_cast<double>(bits & ((std::uint64_t{1} << 53) - 1)) * (1.0 / 9007199254740992.0);
}

}  // namespace zygos
