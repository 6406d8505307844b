// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/schedule/codec.hpp"

#include "zygos/core/bf16.hpp"
#include "zygos/core/error.hpp"
#include "zygos/core/one_bit.hpp"

namespace zygos::schedule {

std::string_view name_of(Codec codec) {
  switch (codec) {
    case Codec::exact:
      return "exact";
    case Codec::bf16:
      return "bf16";
    case Codec::one_bit:
      return "one_bit";
  }
  throw InternalError("there is no codec number " + std::to_string(static_cast<int>(codec)));
}

std::int64_t coded_bytes(Codec codec, std::int64_t elements, std::int64_t element_bytes) {
  switch (codec) {
    case Codec::exact:
      break;
    case Codec::bf16:
      return elements * static_cast<std::int64_t>(sizeof(bf16));
    case Codec::one_bit:
      return one_bit_bytes(elements, element_bytes);
  }
  return elements * element_bytes;
}

Codec LinkCodecs::of(Payload payload) const {
  return payload == Payload::activations            ? activations
         : payload == Payload::activation_gradients ? activation_gradients
         : payload == Payload::gradients            ? gradients
                                                    : Codec::exact;
}

}  // namespace zygos::schedule
