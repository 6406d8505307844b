// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/codec/bf16_codec.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {

template <class Exec, class T>
void encode_bf16(const Exec& exec, VectorView<Exec, const T> x, VectorView<Exec, bf16> message) {
  ZYGOS_REQUIRE(x.size() == message.size(), "ops::encode_bf16: sizes differ");
  const T* const from = x.data();
  bf16* const to = message.data();
  for_each_element(
      "zygos::ops::encode_bf16", exec, x.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { to[i] = bf16(from[i]); });
}

template <class Exec, class T>
void round_to_bf16(const Exec& exec, VectorView<Exec, T> x, VectorView<Exec, bf16> message) {
  ZYGOS_REQUIRE(x.size() == message.size(), "ops::round_to_bf16: sizes differ");
  T* const values = x.data();
  bf16* const to = message.data();
  for_each_element(
      "zygos::ops::round_to_bf16", exec, x.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) {
        const bf16 rounded(values[i]);
        to[i] = rounded;
        values[i] = static_cast<T>(static_cast<float>(rounded));
      });
}

template <class Exec, class T>
void decode_bf16(const Exec& exec, VectorView<Exec, const bf16> message, VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(y.size() == message.size(), "ops::decode_bf16: sizes differ");
  const bf16* const from = message.data();
  T* const to = y.data();
  for_each_element(
      "zygos::ops::decode_bf16", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { to[i] = static_cast<T>(static_cast<float>(from[i])); });
}

template <class Exec, class T>
void add_bf16(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
              VectorView<Exec, const bf16> message) {
  ZYGOS_REQUIRE(y.size() == message.size() && y.size() == a.size(), "ops::add_bf16: sizes differ");
  const bf16* const from = message.data();
  const T* const first = a.data();
  T* const to = y.data();
  for_each_element(
      "zygos::ops::add_bf16", exec, y.size(), chunk::light, KOKKOS_LAMBDA(const std::size_t i) {
        to[i] = first[i] + static_cast<T>(static_cast<float>(from[i]));
      });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                           \
  template void encode_bf16<SPACE, T>(const SPACE&, VectorView<SPACE, const T>,                    \
                                      VectorView<SPACE, bf16>);                                    \
  template void round_to_bf16<SPACE, T>(const SPACE&, VectorView<SPACE, T>,                        \
                                        VectorView<SPACE, bf16>);                                  \
  template void decode_bf16<SPACE, T>(const SPACE&, VectorView<SPACE, const bf16>,                 \
                                      VectorView<SPACE, T>);                                       \
  template void add_bf16<SPACE, T>(const SPACE&, VectorView<SPACE, T>, VectorView<SPACE, const T>, \
                                   VectorView<SPACE, const bf16>);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
