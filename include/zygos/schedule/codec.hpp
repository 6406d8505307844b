// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How the elements of a message are stored while it travels. A codec belongs to the payload of a
// message, so bytes, memory and time of a schedule follow from it.
#pragma once

#include "zygos/schedule/kinds.hpp"

#include <cstdint>
#include <string_view>

namespace zygos::schedule {

enum class Codec : std::uint8_t {
  exact,  ///< as they are in memory
  bf16,   ///< rounded to bfloat16, to nearest even, by the sender; widened by the receiver
  /// A sign for each and a magnitude for each block (zygos/core/one_bit.hpp), of what a compress
  /// task has left. Only in steps of Schedule::one_bit, exact in the others.
  one_bit,
};
std::string_view name_of(Codec codec);

/// Bytes of a message of so many elements, of which each takes `element_bytes` in memory.
std::int64_t coded_bytes(Codec codec, std::int64_t elements, std::int64_t element_bytes);

/// Codecs of what crosses from place to place, by payload.
struct LinkCodecs {
  Codec activations = Codec::exact;
  Codec activation_gradients = Codec::exact;
  Codec gradients = Codec::exact;

  /// Exact for payloads that have no codec: weights, statistics and squares.
  Codec of(Payload payload) const;
  bool all_exact() const { return *this == LinkCodecs{}; }
  friend bool operator==(const LinkCodecs&, const LinkCodecs&) = default;
};

}  // namespace zygos::schedule
