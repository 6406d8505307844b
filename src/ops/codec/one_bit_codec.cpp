// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/codec/one_bit_codec.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

#include <type_traits>

namespace zygos::ops {
namespace {

constexpr auto block_elements = static_cast<std::size_t>(one_bit_block);
static_assert(block_elements % 8 == 0, "a byte of signs belongs to one block");

std::size_t blocks_of(std::size_t elements) {
  return (elements + block_elements - 1) / block_elements;
}

/// Bytes of signs that a thread of a host lane works on at once.
constexpr std::size_t bytes_together = chunk::light / 8;

template <class T>
void require_room(std::size_t elements, std::size_t bytes, const char* what) {
  ZYGOS_REQUIRE(static_cast<std::int64_t>(bytes) ==
                    one_bit_bytes(static_cast<std::int64_t>(elements), sizeof(T)),
                what);
}

/// A byte of signs, and the magnitude if it is the first of a block.
template <class T>
struct EncodeByte {
  const T* x;
  T* magnitudes;
  std::uint8_t* signs;
  std::size_t elements;

  KOKKOS_FUNCTION void operator()(const std::size_t byte) const {
    const std::size_t begin = 8 * byte;
    const std::size_t end = begin + 8 < elements ? begin + 8 : elements;
    std::uint32_t bits = 0;
    for (std::size_t i = begin; i < end; ++i) {
      bits |= (x[i] < T(0) ? 0U : 1U) << (i - begin);
    }
    signs[byte] = static_cast<std::uint8_t>(bits);
    if (begin % block_elements == 0) {
      magnitudes[begin / block_elements] = Kokkos::abs(x[begin]);
    }
  }
};

template <class T, bool adds>
struct DecodeByte {
  const T* magnitudes;
  const std::uint8_t* signs;
  const T* a;
  T* y;
  std::size_t elements;

  KOKKOS_FUNCTION void operator()(const std::size_t byte) const {
    const std::size_t begin = 8 * byte;
    const std::size_t end = begin + 8 < elements ? begin + 8 : elements;
    const T magnitude = magnitudes[begin / block_elements];
    const std::uint32_t bits = signs[byte];
    for (std::size_t i = begin; i < end; ++i) {
      const T value = ((bits >> (i - begin)) & 1U) != 0 ? magnitude : -magnitude;
      if constexpr (adds) {
        y[i] = a[i] + value;
      } else {
        y[i] = value;
      }
    }
  }
};

template <bool adds, class Exec, class T>
void decode(const char* label, const Exec& exec, VectorView<Exec, const std::uint8_t> message,
            const T* a, VectorView<Exec, T> y) {
  require_room<T>(y.size(), message.size(), "a message of one bit an element has another size");
  const auto* magnitudes = reinterpret_cast<const T*>(message.data());
  const std::uint8_t* signs = message.data() + blocks_of(y.size()) * sizeof(T);
  for_each_element(label, exec, (y.size() + 7) / 8, bytes_together,
                   DecodeByte<T, adds>{magnitudes, signs, a, y.data(), y.size()});
}

}  // namespace

template <class Exec, class T>
void encode_one_bit(const Exec& exec, VectorView<Exec, const T> x,
                    VectorView<Exec, std::uint8_t> message) {
  require_room<T>(x.size(), message.size(), "ops::encode_one_bit: the message has another size");
  auto* magnitudes = reinterpret_cast<T*>(message.data());
  std::uint8_t* signs = message.data() + blocks_of(x.size()) * sizeof(T);
  for_each_element("zygos::ops::encode_one_bit", exec, (x.size() + 7) / 8, bytes_together,
                   EncodeByte<T>{x.data(), magnitudes, signs, x.size()});
}

template <class Exec, class T>
void decode_one_bit(const Exec& exec, VectorView<Exec, const std::uint8_t> message,
                    VectorView<Exec, T> y) {
  decode<false, Exec, T>("zygos::ops::decode_one_bit", exec, message, nullptr, y);
}

template <class Exec, class T>
void add_one_bit(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
                 VectorView<Exec, const std::uint8_t> message) {
  ZYGOS_REQUIRE(y.size() == a.size(), "ops::add_one_bit: sizes differ");
  decode<true, Exec, T>("zygos::ops::add_one_bit", exec, message, a.data(), y);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void encode_one_bit<SPACE, T>(const SPACE&, VectorView<SPACE, const T>,            \
                                         VectorView<SPACE, std::uint8_t>);                    \
  template void decode_one_bit<SPACE, T>(const SPACE&, VectorView<SPACE, const std::uint8_t>, \
                                         VectorView<SPACE, T>);                               \
  template void add_one_bit<SPACE, T>(const SPACE&, VectorView<SPACE, T>,                     \
                                      VectorView<SPACE, const T>,                             \
                                      VectorView<SPACE, const std::uint8_t>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
