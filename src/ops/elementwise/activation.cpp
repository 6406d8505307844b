// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"

namespace zygos::ops {
namespace {

std::size_t chunk_of(Activation which) {
  return which == Activation::none || which == Activation::relu ? chunk::light : chunk::heavy;
}

template <Activation which, class Exec, class T>
void launch_forward(const Exec& exec, std::size_t n, const T* x, T* y) {
  for_each_element(
      "zygos::ops::activate", exec, n, chunk_of(which), KOKKOS_LAMBDA(const std::size_t i) {
        y[i] = static_cast<T>(activated<which>(Wide<T>(x[i])));
      });
}

template <Activation which, class Exec, class T>
void launch_backward(const Exec& exec, std::size_t n, const T* known, const T* d_y, T* d_x) {
  // Only gelu's derivative needs more than a product.
  for_each_element(
      "zygos::ops::activate_backward", exec, n,
      which == Activation::gelu ? chunk::heavy : chunk::medium, KOKKOS_LAMBDA(const std::size_t i) {
        d_x[i] = static_cast<T>(d_y[i] * slope<which>(Wide<T>(known[i])));
      });
}

}  // namespace

template <class Exec, class T>
void activate(const Exec& exec, Activation which, VectorView<Exec, const T> x,
              VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size(), "ops::activate: sizes differ");
  with_activation(which, [&](auto constant) {
    launch_forward<decltype(constant)::value>(exec, y.size(), x.data(), y.data());
  });
}

template <class Exec, class T>
void activate_backward(const Exec& exec, Activation which, VectorView<Exec, const T> known,
                       VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(known.size() == d_x.size() && d_y.size() == d_x.size(),
                "ops::activate_backward: sizes differ");
  with_activation(which, [&](auto constant) {
    launch_backward<decltype(constant)::value>(exec, d_x.size(), known.data(), d_y.data(),
                                               d_x.data());
  });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                          \
  template void activate<SPACE, T>(const SPACE&, Activation, VectorView<SPACE, const T>,          \
                                   VectorView<SPACE, T>);                                         \
  template void activate_backward<SPACE, T>(const SPACE&, Activation, VectorView<SPACE, const T>, \
                                            VectorView<SPACE, const T>, VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
