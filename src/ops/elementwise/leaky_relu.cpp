// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/leaky_relu.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

namespace zygos::ops {

template <class Exec, class T>
void leaky_relu(const Exec& exec, Wide<T> slope, VectorView<Exec, const T> x,
                VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size(), "ops::leaky_relu: sizes differ");
  const T* const in = x.data();
  T* const out = y.data();
  for_each_element(
      "zygos::ops::leaky_relu", exec, y.size(), chunk::light, KOKKOS_LAMBDA(const std::size_t i) {
        const Wide<T> x_i = in[i];
        out[i] = static_cast<T>(x_i < Wide<T>(0) ? slope * x_i : x_i);
      });
}

template <class Exec, class T>
void leaky_relu_backward(const Exec& exec, Wide<T> slope, VectorView<Exec, const T> x,
                         VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_x.size() && d_y.size() == d_x.size(),
                "ops::leaky_relu_backward: sizes differ");
  const T* const in = x.data();
  const T* const upstream = d_y.data();
  T* const out = d_x.data();
  for_each_element(
      "zygos::ops::leaky_relu_backward", exec, d_x.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) {
        const Wide<T> d = upstream[i];
        out[i] = static_cast<T>(in[i] < Wide<T>(0) ? slope * d : d);
      });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                         \
  template void leaky_relu<SPACE, T>(const SPACE&, Wide<T>, VectorView<SPACE, const T>,          \
                                     VectorView<SPACE, T>);                                      \
  template void leaky_relu_backward<SPACE, T>(const SPACE&, Wide<T>, VectorView<SPACE, const T>, \
                                              VectorView<SPACE, const T>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
