// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/one_bit_adam.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/update/update_elements.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/one_bit.hpp"

namespace zygos::ops {
namespace {

constexpr auto sign_block = static_cast<std::size_t>(one_bit_block);

template <class T>
struct Scalars {
  T kept;  ///< share beta1
  T rest1;
  T root_factor;
  T epsilon;
  T step_size;
  T own_bound;  ///< of a worker's share of a step

  explicit Scalars(const OneBitScalars& given)
      : kept(static_cast<T>(given.share * given.beta1)),
        rest1(static_cast<T>(1.0 - given.beta1)),
        root_factor(static_cast<T>(given.root_factor)),
        epsilon(static_cast<T>(given.epsilon)),
        step_size(static_cast<T>(given.step_size)),
        own_bound(static_cast<T>(given.share * given.bound)) {}
};

/// What x is of a worker, and of the sum.
template <class T>
struct WorkerTerm {
  Scalars<T> scalars;
  const T* m;
  const T* v;

  KOKKOS_FUNCTION T operator()(const std::size_t i, T g) const {
    const T d = Kokkos::sqrt(v[i]) * scalars.root_factor + scalars.epsilon;
    return update::bounded((scalars.kept * m[i] + scalars.rest1 * g) / d, scalars.own_bound);
  }
};
template <class T>
struct SumTerm {
  KOKKOS_FUNCTION T operator()(const std::size_t, T g) const { return g; }
};

template <class T, class Term>
struct CompressBlock {
  Term term;
  T* g;
  T* error;
  const T* v;
  std::size_t elements;

  KOKKOS_FUNCTION bool has_variance(std::size_t i) const { return v[i] > T(0); }

  KOKKOS_FUNCTION T value(std::size_t i) const { return term(i, g[i]) + error[i]; }

  template <class Threads>
  KOKKOS_FUNCTION void operator()(const Threads& threads, const std::size_t index) const {
    const std::size_t begin = index * sign_block;
    const std::size_t count = begin + sign_block < elements ? sign_block : elements - begin;
    const double squares = threads.sum(count, [&](const std::size_t i) {
      const auto x = has_variance(begin + i) ? static_cast<double>(value(begin + i)) : 0.0;
      return x * x;
    });
    const double those = threads.sum(
        count, [&](const std::size_t i) { return has_variance(begin + i) ? 1.0 : 0.0; });
    const T magnitude = those > 0.0 ? static_cast<T>(Kokkos::sqrt(squares / those)) : T(0);
    threads.each(count, [&](const std::size_t offset) {
      const std::size_t i = begin + offset;
      const T x = has_variance(i) ? value(i) : T(0);
      const T sent = x < T(0) ? -magnitude : magnitude;
      error[i] = has_variance(i) ? x - sent : T(0);
      g[i] = sent;
    });
  }
};

template <class Exec, class T, class Term>
void compress(const char* label, const Exec& exec, const OneBitBuffers<Exec, T>& buffers,
              const Term& term) {
  const std::size_t elements = buffers.gradient.size();
  ZYGOS_REQUIRE(buffers.error.size() == elements && buffers.second.size() == elements,
                "ops::one_bit_adam: sizes differ");
  for_each_row(label, exec, (elements + sign_block - 1) / sign_block, sign_block,
               CompressBlock<T, Term>{term, buffers.gradient.data(), buffers.error.data(),
                                      buffers.second.data(), elements});
}

template <class T>
struct ApplyElement {
  Scalars<T> scalars;
  T* w;
  const T* g;
  T* m;
  const T* v;
  std::int32_t* bad;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    if (bad != nullptr && !(Kokkos::abs(g[i]) <= Kokkos::Experimental::finite_max_v<T>)) {
      Kokkos::atomic_store(bad, 1);
      return;
    }
    if (!(v[i] > T(0))) {
      m[i] = T(0);
      return;
    }
    m[i] = g[i] * (Kokkos::sqrt(v[i]) * scalars.root_factor + scalars.epsilon);
    w[i] -= scalars.step_size * g[i];
  }
};

}  // namespace

template <class Exec, class T>
void compress_momentum(const Exec& exec, const OneBitScalars& scalars,
                       const OneBitBuffers<Exec, T>& buffers) {
  compress("zygos::ops::compress_momentum", exec, buffers,
           WorkerTerm<T>{Scalars<T>(scalars), buffers.first.data(), buffers.second.data()});
}

template <class Exec, class T>
void compress_sum(const Exec& exec, const OneBitBuffers<Exec, T>& buffers) {
  compress("zygos::ops::compress_sum", exec, buffers, SumTerm<T>{});
}

template <class Exec, class T>
void apply_step(const Exec& exec, const OneBitScalars& scalars,
                const OneBitBuffers<Exec, T>& buffers) {
  const std::size_t elements = buffers.gradient.size();
  ZYGOS_REQUIRE(buffers.weights.size() == elements && buffers.first.size() == elements &&
                    buffers.second.size() == elements,
                "ops::apply_step: sizes differ");
  for_each_element(
      "zygos::ops::apply_step", exec, elements, chunk::medium,
      ApplyElement<T>{Scalars<T>(scalars), buffers.weights.data(), buffers.gradient.data(),
                      buffers.first.data(), buffers.second.data(), buffers.bad.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                              \
  template void compress_momentum<SPACE, T>(const SPACE&, const OneBitScalars&,       \
                                            const OneBitBuffers<SPACE, T>&);          \
  template void compress_sum<SPACE, T>(const SPACE&, const OneBitBuffers<SPACE, T>&); \
  template void apply_step<SPACE, T>(const SPACE&, const OneBitScalars&,              \
                                     const OneBitBuffers<SPACE, T>&);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
