// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/update/update.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/update/update_elements.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace zygos::ops {
namespace {

/// A gradient, scaled. A host knows the factor when it launches; on a device, where it may still be
/// on its way, every thread reads it.
template <class T>
struct HostGradient {
  const T* values;
  T factor;

  KOKKOS_FUNCTION T operator[](const std::size_t i) const { return factor * values[i]; }
};
template <class T>
struct DeviceGradient {
  const T* values;
  const double* factor;

  KOKKOS_FUNCTION T operator[](const std::size_t i) const {
    return factor == nullptr ? values[i] : static_cast<T>(*factor) * values[i];
  }
};

template <HostSpace Exec, class T>
HostGradient<T> gradient_of(const UpdateBuffers<Exec, T>& buffers) {
  return {buffers.gradient.data(),
          buffers.factor.size() == 0 ? T(1) : static_cast<T>(*buffers.factor.data())};
}
template <DeviceSpace Exec, class T>
DeviceGradient<T> gradient_of(const UpdateBuffers<Exec, T>& buffers) {
  return {buffers.gradient.data(), buffers.factor.data()};
}
template <class Exec, class T>
using GradientOf = decltype(gradient_of(std::declval<const UpdateBuffers<Exec, T>&>()));

/// Weights and states lie in the cache of the thread that updated them last, and fetching a few
/// from another one takes longer than updating them.
constexpr std::size_t update_chunk_size = chunk::light;

/// Copies of what an update overwrites, or back from them, made element by element before it.
template <class T>
struct Preserved {
  struct Copy {
    const T* from = nullptr;
    T* to = nullptr;  ///< null: there is nothing to copy
  };
  Copy weights;
  Copy first;
  Copy second;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    copy_element(weights, i);
    copy_element(first, i);
    copy_element(second, i);
  }
  void copy_range(std::size_t begin, std::size_t end) const {
    for (const Copy* copy : {&weights, &first, &second}) {
      if (copy->to != nullptr) {
        copy_elements(*copy, begin, end);
      }
    }
  }

 private:
  /// In pieces as wide as a vector: the library's memcpy of a block took four times as long where
  /// both begin at the same place of a page, as large arrays do.
  static void copy_elements(const Copy& copy, std::size_t begin, std::size_t end) {
    constexpr std::size_t bytes = 64;
    constexpr std::size_t piece = bytes / sizeof(T);
    std::size_t i = begin;
    for (; i + piece <= end; i += piece) {
      std::memcpy(copy.to + i, copy.from + i, bytes);
    }
    for (; i < end; ++i) {
      copy.to[i] = copy.from[i];
    }
  }
  KOKKOS_FUNCTION static void copy_element(const Copy& copy, const std::size_t i) {
    if (copy.to != nullptr) {
      copy.to[i] = copy.from[i];
    }
  }
};

template <class Exec, class T>
Preserved<T> preserved_of(const UpdateBuffers<Exec, T>& buffers) {
  const PreviousBuffers<Exec, T>& previous = buffers.previous;
  const auto copy_of = [&](const VectorView<Exec, T>& current, const VectorView<Exec, T>& kept) {
    return previous.again ? typename Preserved<T>::Copy{kept.data(), current.data()}
                          : typename Preserved<T>::Copy{current.data(), kept.data()};
  };
  Preserved<T> preserved;
  if (previous.weights.size() != 0) {
    preserved.weights = copy_of(buffers.weights, previous.weights);
    preserved.first = copy_of(buffers.first, previous.first);
    preserved.second = copy_of(buffers.second, previous.second);
  }
  return preserved;
}

template <class T>
KOKKOS_INLINE_FUNCTION bool is_bad(T value) {
  return !(Kokkos::abs(value) <= Kokkos::Experimental::finite_max_v<T>);
}

template <class T>
bool any_is_bad(const T* values, std::size_t count) {
  // Of the width of an element, so that the loop vectorises.
  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t> found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    found += is_bad(values[i]) ? 1 : 0;
  }
  return found != 0;
}

/// Elements whose gradient is examined, and whose old values are kept, before they are updated.
/// They fit a first-level cache: chunks took a tenth longer where all comes from memory.
constexpr std::size_t block_size = 256;

/// How a host updates a range of elements.
template <class T, class Element>
struct HostUpdate {
  Element element;
  Preserved<T> preserved;
  const T* gradient;
  std::int32_t* bad;  ///< null: nobody asks
};

/// element(i) for all of a block but where the gradient is bad.
template <class T, class Element>
void update_block(const HostUpdate<T, Element>& update, std::size_t begin, std::size_t end) {
  const auto& [element, preserved, gradient, bad] = update;
  preserved.copy_range(begin, end);
  if (bad == nullptr || !any_is_bad(gradient + begin, end - begin)) {
    return detail::run_range(element, begin, end);
  }
  Kokkos::atomic_store(bad, 1);
  for (std::size_t i = begin; i < end; ++i) {
    if (!is_bad(gradient[i])) {
      element(i);
    }
  }
}

/// A gradient is looked at just before it is used, so that it comes from memory once.
template <class T, class Element>
void update_chunk(const HostUpdate<T, Element>& update, std::size_t begin, std::size_t end) {
  for (std::size_t block = begin; block < end; block += block_size) {
    update_block(update, block, std::min(end, block + block_size));
  }
}

template <HostSpace Exec, class T, class Element>
void for_each_weight(const char* label, const Exec& exec, const UpdateBuffers<Exec, T>& buffers,
                     Element element) {
  if (buffers.scalars.size() != 0) {
    element.read(buffers.scalars.data());
  }
  const std::size_t weights = buffers.weights.size();
  const HostUpdate<T, Element> update{element, preserved_of(buffers), buffers.gradient.data(),
                                      buffers.bad.data()};
  if (weights <= update_chunk_size) {
    return update_chunk(update, 0, weights);
  }
  const std::size_t chunks = (weights + update_chunk_size - 1) / update_chunk_size;
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, chunks),
                       [=](const std::size_t chunk) {
                         const std::size_t begin = chunk * update_chunk_size;
                         update_chunk(update, begin, std::min(weights, begin + update_chunk_size));
                       });
}

template <class T, class Element>
struct CheckedElement {
  Element element;
  const double* scalars;  ///< null: the element has them
  Preserved<T> preserved;
  const T* gradient;
  std::int32_t* bad;  ///< null: nobody asks

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    preserved(i);
    if (bad != nullptr && is_bad(gradient[i])) {
      Kokkos::atomic_store(bad, 1);
    } else {
      Element current = element;
      if (scalars != nullptr) {
        current.read(scalars);
      }
      current(i);
    }
  }
};

template <DeviceSpace Exec, class T, class Element>
void for_each_weight(const char* label, const Exec& exec, const UpdateBuffers<Exec, T>& buffers,
                     const Element& element) {
  for_each_element(
      label, exec, buffers.weights.size(), update_chunk_size,
      CheckedElement<T, Element>{element, buffers.scalars.data(), preserved_of(buffers),
                                 buffers.gradient.data(), buffers.bad.data()});
}

template <bool with_momentum, bool with_decay, class Exec, class T>
void launch_sgd(const Exec& exec, const SgdScalars& scalars,
                const UpdateBuffers<Exec, T>& buffers) {
  for_each_weight("zygos::ops::sgd", exec, buffers,
                  update::SgdElement<with_momentum, with_decay, T, GradientOf<Exec, T>>{
                      static_cast<T>(scalars.rate), static_cast<T>(scalars.momentum),
                      static_cast<T>(scalars.decay), buffers.weights.data(), buffers.first.data(),
                      gradient_of(buffers), buffers.mask.data()});
}

template <Decay kind, class Exec, class T>
void launch_adam(const Exec& exec, const AdamScalars& scalars,
                 const UpdateBuffers<Exec, T>& buffers) {
  for_each_weight(
      "zygos::ops::adam", exec, buffers,
      update::AdamElement<kind, T, GradientOf<Exec, T>>{
          static_cast<T>(scalars.step_size), static_cast<T>(scalars.beta1),
          static_cast<T>(scalars.beta2), static_cast<T>(1.0 - scalars.beta1),
          static_cast<T>(1.0 - scalars.beta2), static_cast<T>(scalars.root_factor),
          static_cast<T>(scalars.epsilon), static_cast<T>(scalars.decay), buffers.weights.data(),
          buffers.first.data(), buffers.second.data(), gradient_of(buffers), buffers.mask.data()});
}

template <class Exec, class T>
void launch_bounded_adam(const Exec& exec, const BoundedAdamScalars& scalars,
                         const UpdateBuffers<Exec, T>& buffers) {
  for_each_weight(
      "zygos::ops::bounded_adam", exec, buffers,
      update::BoundedAdamElement<T, GradientOf<Exec, T>>{
          static_cast<T>(scalars.step_size), static_cast<T>(scalars.beta1),
          static_cast<T>(scalars.beta2), static_cast<T>(1.0 - scalars.beta1),
          static_cast<T>(1.0 - scalars.beta2), static_cast<T>(scalars.root_factor),
          static_cast<T>(scalars.epsilon), static_cast<T>(scalars.bound), buffers.weights.data(),
          buffers.first.data(), buffers.second.data(), gradient_of(buffers)});
}

template <bool with_decay, class Exec, class T>
void launch_adagrad(const Exec& exec, const AdagradScalars& scalars,
                    const UpdateBuffers<Exec, T>& buffers) {
  for_each_weight("zygos::ops::adagrad", exec, buffers,
                  update::AdagradElement<with_decay, T, GradientOf<Exec, T>>{
                      static_cast<T>(scalars.rate), static_cast<T>(scalars.epsilon),
                      static_cast<T>(scalars.decay), buffers.weights.data(), buffers.first.data(),
                      gradient_of(buffers), buffers.mask.data()});
}

template <bool with_momentum, bool with_decay, class Exec, class T>
void launch_rmsprop(const Exec& exec, const RmspropScalars& scalars,
                    const UpdateBuffers<Exec, T>& buffers) {
  for_each_weight(
      "zygos::ops::rmsprop", exec, buffers,
      update::RmspropElement<with_momentum, with_decay, T, GradientOf<Exec, T>>{
          static_cast<T>(scalars.rate), static_cast<T>(scalars.alpha),
          static_cast<T>(1.0 - scalars.alpha), static_cast<T>(scalars.epsilon),
          static_cast<T>(scalars.momentum), static_cast<T>(scalars.decay), buffers.weights.data(),
          buffers.first.data(), buffers.second.data(), gradient_of(buffers), buffers.mask.data()});
}

}  // namespace

template <class Exec, class T>
void sgd(const Exec& exec, const SgdScalars& scalars, const UpdateBuffers<Exec, T>& buffers) {
  ZYGOS_REQUIRE(buffers.gradient.size() == buffers.weights.size(), "ops::sgd: sizes differ");
  const bool decays = scalars.decay != 0.0;
  if (buffers.first.size() != 0) {
    return decays ? launch_sgd<true, true>(exec, scalars, buffers)
                  : launch_sgd<true, false>(exec, scalars, buffers);
  }
  return decays ? launch_sgd<false, true>(exec, scalars, buffers)
                : launch_sgd<false, false>(exec, scalars, buffers);
}

template <class Exec, class T>
void adam(const Exec& exec, const AdamScalars& scalars, Decay decay,
          const UpdateBuffers<Exec, T>& buffers) {
  ZYGOS_REQUIRE(buffers.gradient.size() == buffers.weights.size() &&
                    buffers.first.size() == buffers.weights.size() &&
                    buffers.second.size() == buffers.weights.size(),
                "ops::adam: sizes differ");
  switch (decay) {
    case Decay::none:
      return launch_adam<Decay::none>(exec, scalars, buffers);
    case Decay::added:
      return launch_adam<Decay::added>(exec, scalars, buffers);
    case Decay::decoupled:
      return launch_adam<Decay::decoupled>(exec, scalars, buffers);
  }
}

template <class Exec, class T>
void bounded_adam(const Exec& exec, const BoundedAdamScalars& scalars,
                  const UpdateBuffers<Exec, T>& buffers) {
  ZYGOS_REQUIRE(buffers.gradient.size() == buffers.weights.size() &&
                    buffers.first.size() == buffers.weights.size() &&
                    buffers.second.size() == buffers.weights.size(),
                "ops::bounded_adam: sizes differ");
  launch_bounded_adam(exec, scalars, buffers);
}

template <class Exec, class T>
void adagrad(const Exec& exec, const AdagradScalars& scalars,
             const UpdateBuffers<Exec, T>& buffers) {
  ZYGOS_REQUIRE(buffers.gradient.size() == buffers.weights.size() &&
                    buffers.first.size() == buffers.weights.size(),
                "ops::adagrad: sizes differ");
  return scalars.decay != 0.0 ? launch_adagrad<true>(exec, scalars, buffers)
                              : launch_adagrad<false>(exec, scalars, buffers);
}

template <class Exec, class T>
void rmsprop(const Exec& exec, const RmspropScalars& scalars,
             const UpdateBuffers<Exec, T>& buffers) {
  ZYGOS_REQUIRE(buffers.gradient.size() == buffers.weights.size() &&
                    buffers.first.size() == buffers.weights.size(),
                "ops::rmsprop: sizes differ");
  const bool decays = scalars.decay != 0.0;
  if (buffers.second.size() != 0) {
    return decays ? launch_rmsprop<true, true>(exec, scalars, buffers)
                  : launch_rmsprop<true, false>(exec, scalars, buffers);
  }
  return decays ? launch_rmsprop<false, true>(exec, scalars, buffers)
                : launch_rmsprop<false, false>(exec, scalars, buffers);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                        \
  template void sgd<SPACE, T>(const SPACE&, const SgdScalars&, const UpdateBuffers<SPACE, T>&); \
  template void adam<SPACE, T>(const SPACE&, const AdamScalars&, Decay,                         \
                               const UpdateBuffers<SPACE, T>&);                                 \
  template void bounded_adam<SPACE, T>(const SPACE&, const BoundedAdamScalars&,                 \
                                       const UpdateBuffers<SPACE, T>&);                         \
  template void adagrad<SPACE, T>(const SPACE&, const AdagradScalars&,                          \
                                  const UpdateBuffers<SPACE, T>&);                              \
  template void rmsprop<SPACE, T>(const SPACE&, const RmspropScalars&,                          \
                                  const UpdateBuffers<SPACE, T>&);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
