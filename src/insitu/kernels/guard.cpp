// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/kernels/guard.hpp"

#include "ops/common/launch.hpp"

#include "zygos/lane/dispatch.hpp"

#include <type_traits>

namespace zygos::insitu {
namespace {

template <class T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Word = std::uint32_t;
  static constexpr Word exponent = 0x7F800000U;
};
template <>
struct FloatBits<bf16> {
  using Word = std::uint16_t;
  static constexpr Word exponent = 0x7F80U;
};
template <>
struct FloatBits<double> {
  using Word = std::uint64_t;
  static constexpr Word exponent = 0x7FF0000000000000U;
};

/// A piece of a host core's is long, so that it vectorises, one of a device's short.
template <class T>
struct ExaminePiece {
  const T* values;
  std::size_t count;
  std::size_t length;
  std::int32_t* bad;

  KOKKOS_FUNCTION void operator()(const std::size_t piece) const {
    using Word = typename FloatBits<T>::Word;
    const std::size_t begin = piece * length;
    const std::size_t end = begin + length < count ? begin + length : count;
    Word found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto word =
          static_cast<Word>(Kokkos::bit_cast<Word>(values[i]) & FloatBits<T>::exponent);
      found = static_cast<Word>(found | (word == FloatBits<T>::exponent ? 1U : 0U));
    }
    if (found != 0) {
      Kokkos::atomic_store(bad, std::int32_t{1});
    }
  }
};

struct Tell {
  const double* totals;
  std::int32_t* bad;
  Verdict* verdict;

  KOKKOS_FUNCTION void operator()(const std::size_t) const {
    const double loss = totals == nullptr ? 0.0 : totals[0];
    verdict->loss = loss;
    verdict->bad = *bad != 0 || !Kokkos::isfinite(loss) ? 1 : 0;
    *bad = 0;
  }
};

}  // namespace

void find_not_finite(const lane::Execution& execution, const Tensor& tensor, std::int32_t* bad) {
  lane::dispatch_stored(execution, tensor.dtype(), [&](const auto& exec, auto type) {
    using Exec = std::decay_t<decltype(exec)>;
    using T = typename decltype(type)::type;
    const auto count = static_cast<std::size_t>(tensor.size());
    const std::size_t length = ops::HostSpace<Exec> ? ops::chunk::medium : 8;
    ops::for_each_element("zygos::insitu::find_not_finite", exec, (count + length - 1) / length,
                          std::size_t{16},
                          ExaminePiece<T>{tensor.data<const T>(), count, length, bad});
  });
}

void tell(const lane::Execution& execution, const Tensor& totals, std::int32_t* bad,
          Verdict* verdict) {
  lane::dispatch(execution, [&](const auto& exec) {
    ops::for_each_element("zygos::insitu::tell", exec, 1, ops::chunk::light,
                          Tell{totals ? totals.data<const double>() : nullptr, bad, verdict});
  });
}

}  // namespace zygos::insitu
