// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/elementwise.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

namespace zygos::ops {

template <class Exec, class T>
void fill(const Exec& exec, VectorView<Exec, T> y, T value) {
  T* const out = y.data();
  for_each_element(
      "zygos::ops::fill", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { out[i] = value; });
}

template <class Exec, class T>
void copy(const Exec& exec, VectorView<Exec, const T> x, VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size(), "ops::copy: sizes differ");
  const T* const in = x.data();
  T* const out = y.data();
  for_each_element(
      "zygos::ops::copy", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { out[i] = in[i]; });
}

template <class Exec, class T>
void scale(const Exec& exec, VectorView<Exec, T> y, T factor) {
  T* const out = y.data();
  for_each_element(
      "zygos::ops::scale", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { out[i] = static_cast<T>(out[i] * factor); });
}

template <class Exec, class T>
void add(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> x) {
  ZYGOS_REQUIRE(x.size() == y.size(), "ops::add: sizes differ");
  const T* const in = x.data();
  T* const out = y.data();
  for_each_element(
      "zygos::ops::add", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { out[i] = static_cast<T>(out[i] + in[i]); });
}

template <class Exec, class T>
void sum(const Exec& exec, VectorView<Exec, T> y, VectorView<Exec, const T> a,
         VectorView<Exec, const T> b) {
  ZYGOS_REQUIRE(a.size() == y.size() && b.size() == y.size(), "ops::sum: sizes differ");
  const T* const left = a.data();
  const T* const right = b.data();
  T* const out = y.data();
  for_each_element(
      "zygos::ops::sum", exec, y.size(), chunk::light,
      KOKKOS_LAMBDA(const std::size_t i) { out[i] = static_cast<T>(left[i] + right[i]); });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                        \
  template void fill<SPACE, T>(const SPACE&, VectorView<SPACE, T>, T);                          \
  template void copy<SPACE, T>(const SPACE&, VectorView<SPACE, const T>, VectorView<SPACE, T>); \
  template void scale<SPACE, T>(const SPACE&, VectorView<SPACE, T>, T);                         \
  template void add<SPACE, T>(const SPACE&, VectorView<SPACE, T>, VectorView<SPACE, const T>);  \
  template void sum<SPACE, T>(const SPACE&, VectorView<SPACE, T>, VectorView<SPACE, const T>,   \
                              VectorView<SPACE, const T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
