// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/sigmoid_weighted.hpp"

#include "ops/common/exponential.hpp"
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"

namespace zygos::ops {
namespace {

/// z(x) and its derivative.
template <class T>
struct Exponent {
  T z;
  T slope;
};

template <SigmoidWeighted which, class T>
KOKKOS_FORCEINLINE_FUNCTION Exponent<T> exponent_at(T x) {
  if constexpr (which == SigmoidWeighted::silu) {
    return {x, T(1)};
  } else {
    // From here on the sigmoid is 0 or 1 in every type, and no power of x overflows. NaN stays NaN.
    constexpr T limit(32);
    const T bounded = x < -limit ? -limit : x > limit ? limit : x;
    constexpr auto linear = static_cast<T>(1.59576912160573071176);
    constexpr auto cubic = static_cast<T>(0.07135481627260024877);
    const T square = bounded * bounded;
    return {bounded * (linear + cubic * square), linear + T(3) * cubic * square};
  }
}

/// The power is at most 1, so that nothing overflows, and small results keep their places.
template <SigmoidWeighted which, class T>
KOKKOS_FORCEINLINE_FUNCTION T weighted(T x) {
  const T z = exponent_at<which>(x).z;
  const T power = exponential(-Kokkos::abs(z));
  return x * ((z < T(0) ? power : T(1)) / (T(1) + power));
}

/// sigmoid(z) + x z' sigmoid(z) sigmoid(-z).
template <SigmoidWeighted which, class T>
KOKKOS_FORCEINLINE_FUNCTION T weighted_slope(T x) {
  const Exponent<T> at = exponent_at<which>(x);
  const T power = exponential(-Kokkos::abs(at.z));
  const T inverse = T(1) / (T(1) + power);
  return ((at.z < T(0) ? power : T(1)) + x * at.slope * (power * inverse)) * inverse;
}

template <SigmoidWeighted which, class Exec, class T>
void launch_weighted(const Exec& exec, std::size_t n, const T* x, T* y) {
  for_each_element(
      "zygos::ops::sigmoid_weighted", exec, n, chunk::heavy, KOKKOS_LAMBDA(const std::size_t i) {
        y[i] = static_cast<T>(weighted<which>(Wide<T>(x[i])));
      });
}

template <SigmoidWeighted which, class Exec, class T>
void launch_weighted_backward(const Exec& exec, std::size_t n, const T* x, const T* d_y, T* d_x) {
  for_each_element(
      "zygos::ops::sigmoid_weighted_backward", exec, n, chunk::heavy,
      KOKKOS_LAMBDA(const std::size_t i) {
        d_x[i] = static_cast<T>(d_y[i] * weighted_slope<which>(Wide<T>(x[i])));
      });
}

}  // namespace

template <class Exec, class T>
void sigmoid_weighted(const Exec& exec, SigmoidWeighted which, VectorView<Exec, const T> x,
                      VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(x.size() == y.size(), "ops::sigmoid_weighted: sizes differ");
  if (which == SigmoidWeighted::silu) {
    launch_weighted<SigmoidWeighted::silu>(exec, y.size(), x.data(), y.data());
  } else {
    launch_weighted<SigmoidWeighted::gelu_tanh>(exec, y.size(), x.data(), y.data());
  }
}

template <class Exec, class T>
void sigmoid_weighted_backward(const Exec& exec, SigmoidWeighted which, VectorView<Exec, const T> x,
                               VectorView<Exec, const T> d_y, VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == d_x.size() && d_y.size() == d_x.size(),
                "ops::sigmoid_weighted_backward: sizes differ");
  if (which == SigmoidWeighted::silu) {
    launch_weighted_backward<SigmoidWeighted::silu>(exec, d_x.size(), x.data(), d_y.data(),
                                                    d_x.data());
  } else {
    launch_weighted_backward<SigmoidWeighted::gelu_tanh>(exec, d_x.size(), x.data(), d_y.data(),
                                                         d_x.data());
  }
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void sigmoid_weighted<SPACE, T>(const SPACE&, SigmoidWeighted,                     \
                                           VectorView<SPACE, const T>, VectorView<SPACE, T>); \
  template void sigmoid_weighted_backward<SPACE, T>(                                          \
      const SPACE&, SigmoidWeighted, VectorView<SPACE, const T>, VectorView<SPACE, const T>,  \
      VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
