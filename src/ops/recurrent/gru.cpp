// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/gru.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/recurrent/for_each_unit.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

constexpr std::size_t gru_gates = 3;

template <class T>
struct GruUnits {
  RecurrentStep step;
  const T* product;  ///< null: zeros
  const T* bias;
  T* gates;
  T* candidates;
  StatesOfStep<T> states;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void compute(std::size_t sample, std::size_t first) const {
    using Some = Units<width, T>;
    const std::size_t units = step.units;
    const std::size_t row = sample * step.positions + step.position;
    T* const own = gates + row * gru_gates * units + first;
    Some from_x[gru_gates];
    Some from_h[gru_gates];
    for (std::size_t k = 0; k < gru_gates; ++k) {
      from_x[k] = Some::load(own + k * units);
      from_h[k] =
          Some::load_or_zero(row_or_null(product, (sample * gru_gates + k) * units + first));
      const Some plus = Some::load(bias + k * units + first);
      for (std::size_t u = 0; u < width; ++u) {
        from_h[k].at[u] += plus.at[u];
      }
    }
    Some h = Some::load_or_zero(step.is_first ? nullptr : states.before + row * units + first);
    for (std::size_t u = 0; u < width; ++u) {
      const T r = activated<Activation::sigmoid>(from_x[0].at[u] + from_h[0].at[u]);
      const T z = activated<Activation::sigmoid>(from_x[1].at[u] + from_h[1].at[u]);
      const T n = activated<Activation::tanh>(from_x[2].at[u] + r * from_h[2].at[u]);
      h.at[u] = n + z * (h.at[u] - n);
      from_x[0].at[u] = r;
      from_x[1].at[u] = z;
      from_x[2].at[u] = n;
    }
    for (std::size_t k = 0; k < gru_gates; ++k) {
      from_x[k].store(own + k * units);
    }
    from_h[2].store(candidates + row * units + first);
    states.store(step, sample, first, h);
  }
};

template <class T>
struct GruUnitsBackward {
  RecurrentStep step;
  const T* gates;
  const T* candidates;
  const T* before;
  const T* d_y;  ///< null: zeros
  std::size_t d_y_stride;
  const T* d_hidden;  ///< null: zeros
  T* carry;
  T* d_gates;
  T* d_recurrent;
  T* d_step;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void compute(std::size_t sample, std::size_t first) const {
    using Some = Units<width, T>;
    const std::size_t units = step.units;
    const std::size_t row = sample * step.positions + step.position;
    Some gate[gru_gates];
    for (std::size_t k = 0; k < gru_gates; ++k) {
      gate[k] = Some::load(gates + (row * gru_gates + k) * units + first);
    }
    const Some q = Some::load(candidates + row * units + first);
    const Some h_before = Some::load(before + row * units + first);
    const std::size_t at = sample * units + first;
    const Some above = Some::load_or_zero(row_or_null(d_y, sample * d_y_stride + first));
    const Some behind = Some::load_or_zero(row_or_null(d_hidden, at));
    Some kept = Some::load_or_zero(step.is_last ? nullptr : carry + at);
    Some d_a[gru_gates];
    Some d_q;
    for (std::size_t u = 0; u < width; ++u) {
      const T r = gate[0].at[u];
      const T z = gate[1].at[u];
      const T n = gate[2].at[u];
      const T d_h = above.at[u] + (behind.at[u] + kept.at[u]);
      const T d_n = d_h * (T(1) - z) * slope<Activation::tanh>(n);
      d_a[0].at[u] = d_n * q.at[u] * slope<Activation::sigmoid>(r);
      d_a[1].at[u] = d_h * (h_before.at[u] - n) * slope<Activation::sigmoid>(z);
      d_a[2].at[u] = d_n;
      d_q.at[u] = d_n * r;
      kept.at[u] = d_h * z;
    }
    kept.store(carry + at);
    for (std::size_t k = 0; k < gru_gates; ++k) {
      const Some& of_h = k == 2 ? d_q : d_a[k];
      d_a[k].store(d_gates + (row * gru_gates + k) * units + first);
      of_h.store(d_recurrent + (row * gru_gates + k) * units + first);
      of_h.store(d_step + (sample * gru_gates + k) * units + first);
    }
  }
};

}  // namespace

template <class Exec, class T>
void gru_step(const Exec& exec, const GruForward<Exec, T>& gru, std::size_t step) {
  const RecurrentDimensions& dimensions = gru.dimensions;
  const RecurrentStep at(dimensions, step, "ops::gru_step: there is no such step");
  const std::size_t state = dimensions.samples * dimensions.units;
  const std::size_t all = dimensions.rows() * dimensions.units;
  ZYGOS_REQUIRE(gru.gates.size() == gru_gates * all && gru.candidates.size() == all &&
                    gru.before.size() == all && gru.hidden.size() == state &&
                    (at.is_first || gru.product.size() == gru_gates * state) &&
                    gru.bias.size() == gru_gates * dimensions.units,
                "ops::gru_step: dimensions do not fit");
  const StepOfResult of_y(dimensions, gru.y.size(), at, "ops::gru_step: y does not fit");
  for_each_unit(
      "zygos::ops::gru_step", exec, dimensions,
      GruUnits<T>{at,
                  at.is_first ? nullptr : gru.product.data(),
                  gru.bias.data(),
                  gru.gates.data(),
                  gru.candidates.data(),
                  {gru.before.data(), gru.hidden.data(), of_y.row(gru.y.data()), of_y.stride}});
}

template <class Exec, class T>
void gru_step_backward(const Exec& exec, const GruBackward<Exec, T>& gru, std::size_t step) {
  const RecurrentDimensions& dimensions = gru.dimensions;
  const RecurrentStep at(dimensions, step, "ops::gru_step_backward: there is no such step");
  const std::size_t state = dimensions.samples * dimensions.units;
  const std::size_t all = dimensions.rows() * dimensions.units;
  ZYGOS_REQUIRE(gru.gates.size() == gru_gates * all && gru.candidates.size() == all &&
                    gru.before.size() == all && gru.d_gates.size() == gru_gates * all &&
                    gru.d_recurrent.size() == gru_gates * all &&
                    gru.d_step.size() == gru_gates * state && gru.carry.size() == state &&
                    (at.is_last || gru.d_hidden.size() == state),
                "ops::gru_step_backward: dimensions do not fit");
  const StepOfResult of_y(dimensions, gru.d_y.size(), at,
                          "ops::gru_step_backward: d_y does not fit");
  for_each_unit("zygos::ops::gru_step_backward", exec, dimensions,
                GruUnitsBackward<T>{at, gru.gates.data(), gru.candidates.data(), gru.before.data(),
                                    of_y.row(gru.d_y.data()), of_y.stride,
                                    at.is_last ? nullptr : gru.d_hidden.data(), gru.carry.data(),
                                    gru.d_gates.data(), gru.d_recurrent.data(), gru.d_step.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                    \
  template void gru_step<SPACE, T>(const SPACE&, const GruForward<SPACE, T>&, std::size_t); \
  template void gru_step_backward<SPACE, T>(const SPACE&, const GruBackward<SPACE, T>&,     \
                                            std::size_t);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
