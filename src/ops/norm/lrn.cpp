// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A host core takes a stretch of one channel's plane, along which all loops vectorise; a device has
// a thread for each number. Sums go from the first channel to the last.
#include "ops/norm/lrn.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

/// Elements of a plane that a core takes at once: their sums stay in its nearest cache.
template <class Exec>
inline constexpr std::size_t stretch = HostSpace<Exec> ? 512 : 1;

/// scale^-power; the usual powers by roots, which vectorise.
template <class T>
struct ByThreeQuarters {
  KOKKOS_INLINE_FUNCTION T operator()(T scale) const {
    const T root = Kokkos::sqrt(scale);
    return T(1) / (root * Kokkos::sqrt(root));
  }
};
template <class T>
struct ByHalf {
  KOKKOS_INLINE_FUNCTION T operator()(T scale) const { return T(1) / Kokkos::sqrt(scale); }
};
template <class T>
struct ByOne {
  KOKKOS_INLINE_FUNCTION T operator()(T scale) const { return T(1) / scale; }
};
template <class T>
struct ByAny {
  T power;
  KOKKOS_INLINE_FUNCTION T operator()(T scale) const { return Kokkos::pow(scale, -power); }
};

template <class F>
void with_power(double power, const F& f) {
  if (power == 0.75) {
    return f([](auto type) { return ByThreeQuarters<decltype(type)>{}; });
  }
  if (power == 0.5) {
    return f([](auto type) { return ByHalf<decltype(type)>{}; });
  }
  if (power == 1.0) {
    return f([](auto type) { return ByOne<decltype(type)>{}; });
  }
  f([=](auto type) { return ByAny<decltype(type)>{static_cast<decltype(type)>(power)}; });
}

/// Which elements a piece of work has, and where the channels within reach of them are.
struct Stretch {
  /// What numbers of pieces are divided by.
  struct Divisors {
    IndexDivisor pieces;  ///< of a plane
    IndexDivisor channels;

    Divisors(const LrnShape& shape, std::size_t length)
        : pieces(static_cast<std::int64_t>((shape.area + length - 1) / length)),
          channels(static_cast<std::int64_t>(shape.channels)) {}
  };

  KOKKOS_INLINE_FUNCTION Stretch(const LrnShape& shape, const Divisors& divisors,
                                 std::size_t length, std::size_t piece) {
    const IndexDivisor::Parts of_plane = divisors.pieces.divide(static_cast<std::int64_t>(piece));
    const auto plane = static_cast<std::size_t>(of_plane.quotient);
    const auto channel = static_cast<std::size_t>(divisors.channels.divide(of_plane.quotient).rest);
    const std::size_t from = static_cast<std::size_t>(of_plane.rest) * length;
    const std::size_t below = channel < shape.reach ? channel : shape.reach;
    const std::size_t above = shape.channels - 1 - channel;
    begin = plane * shape.area + from;
    count = shape.area - from < length ? shape.area - from : length;
    first = begin - below * shape.area;
    channels = below + 1 + (above < shape.reach ? above : shape.reach);
  }

  std::size_t begin;     ///< of the stretch itself
  std::size_t count;     ///< of elements
  std::size_t first;     ///< the same place in the first channel within reach
  std::size_t channels;  ///< within reach
};

template <std::size_t length, class T, class Power>
struct Forward {
  LrnShape shape;
  Wide<T> offset;
  Wide<T> weight;
  Power power;
  const T* x;
  Wide<T>* scale;
  T* y;
  Stretch::Divisors divisors{shape, length};

  KOKKOS_FUNCTION void operator()(const std::size_t piece) const {
    const Stretch part(shape, divisors, length, piece);
    Wide<T> squares[length] = {};
    for (std::size_t c = 0; c < part.channels; ++c) {
      const T* const in = x + part.first + c * shape.area;
      for (std::size_t i = 0; i < part.count; ++i) {
        squares[i] += in[i] * in[i];
      }
    }
    const T* const in = x + part.begin;
    Wide<T>* const kept = scale + part.begin;
    T* const out = y + part.begin;
    for (std::size_t i = 0; i < part.count; ++i) {
      squares[i] = offset + weight * squares[i];
      kept[i] = squares[i];
    }
    for (std::size_t i = 0; i < part.count; ++i) {
      out[i] = static_cast<T>(in[i] * power(squares[i]));
    }
  }
};

/// d_x = d_y scale^-power - 2 weight power x times the sum of d_y y / scale within reach.
template <std::size_t length, class T, class Power>
struct Backward {
  LrnShape shape;
  Wide<T> twice;  ///< 2 weight power
  Power power;
  const T* x;
  const Wide<T>* scale;
  const T* y;
  const T* d_y;
  T* d_x;
  Stretch::Divisors divisors{shape, length};

  KOKKOS_FUNCTION void operator()(const std::size_t piece) const {
    const Stretch part(shape, divisors, length, piece);
    Wide<T> sums[length] = {};
    for (std::size_t c = 0; c < part.channels; ++c) {
      const std::size_t at = part.first + c * shape.area;
      for (std::size_t i = 0; i < part.count; ++i) {
        sums[i] += d_y[at + i] * y[at + i] / scale[at + i];
      }
    }
    T* const out = d_x + part.begin;
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t at = part.begin + i;
      sums[i] = d_y[at] * power(scale[at]) - twice * x[at] * sums[i];
    }
    for (std::size_t i = 0; i < part.count; ++i) {
      out[i] = static_cast<T>(sums[i]);
    }
  }
};

template <class Exec, class Body>
void for_each_stretch(const char* label, const Exec& exec, const LrnShape& shape,
                      const Body& body) {
  constexpr std::size_t length = stretch<Exec>;
  const std::size_t pieces = shape.samples * shape.channels * ((shape.area + length - 1) / length);
  const std::size_t work = std::min(length, std::max<std::size_t>(1, shape.area)) *
                           std::min(2 * shape.reach + 1, shape.channels);
  for_each_element(label, exec, pieces,
                   std::max<std::size_t>(1, chunk::light / std::max<std::size_t>(1, work)), body);
}

}  // namespace

template <class Exec, class T>
void lrn(const Exec& exec, const LrnShape& shape, const LrnScalars& scalars,
         VectorView<Exec, const T> x, VectorView<Exec, Wide<T>> scale, VectorView<Exec, T> y) {
  ZYGOS_REQUIRE(
      x.size() == shape.size() && scale.size() == shape.size() && y.size() == shape.size(),
      "ops::lrn: dimensions do not fit");
  with_power(scalars.power, [&](const auto& power_of) {
    const auto power = power_of(Wide<T>());
    for_each_stretch(
        "zygos::ops::lrn", exec, shape,
        Forward<stretch<Exec>, T, std::decay_t<decltype(power)>>{
            shape, static_cast<Wide<T>>(scalars.offset), static_cast<Wide<T>>(scalars.weight),
            power, x.data(), scale.data(), y.data()});
  });
}

template <class Exec, class T>
void lrn_backward(const Exec& exec, const LrnShape& shape, const LrnScalars& scalars,
                  VectorView<Exec, const T> x, VectorView<Exec, const Wide<T>> scale,
                  VectorView<Exec, const T> y, VectorView<Exec, const T> d_y,
                  VectorView<Exec, T> d_x) {
  ZYGOS_REQUIRE(x.size() == shape.size() && scale.size() == shape.size() &&
                    y.size() == shape.size() && d_y.size() == shape.size() &&
                    d_x.size() == shape.size(),
                "ops::lrn_backward: dimensions do not fit");
  with_power(scalars.power, [&](const auto& power_of) {
    const auto power = power_of(Wide<T>());
    for_each_stretch("zygos::ops::lrn_backward", exec, shape,
                     Backward<stretch<Exec>, T, std::decay_t<decltype(power)>>{
                         shape, static_cast<Wide<T>>(2.0 * scalars.weight * scalars.power), power,
                         x.data(), scale.data(), y.data(), d_y.data(), d_x.data()});
  });
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                        \
  template void lrn<SPACE, T>(const SPACE&, const LrnShape&, const LrnScalars&,                 \
                              VectorView<SPACE, const T>, VectorView<SPACE, Wide<T>>,           \
                              VectorView<SPACE, T>);                                            \
  template void lrn_backward<SPACE, T>(                                                         \
      const SPACE&, const LrnShape&, const LrnScalars&, VectorView<SPACE, const T>,             \
      VectorView<SPACE, const Wide<T>>, VectorView<SPACE, const T>, VectorView<SPACE, const T>, \
      VectorView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
