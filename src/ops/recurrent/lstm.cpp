// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/lstm.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/recurrent/for_each_unit.hpp"

#include "zygos/core/error.hpp"

namespace zygos::ops {
namespace {

constexpr std::size_t lstm_gates = 4;

template <class T>
struct LstmUnits {
  RecurrentStep step;
  const T* product;  ///< null: zeros
  const T* bias;
  T* gates;
  T* cells;
  StatesOfStep<T> states;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void compute(std::size_t sample, std::size_t first) const {
    using Some = Units<width, T>;
    const std::size_t units = step.units;
    const std::size_t row = sample * step.positions + step.position;
    T* const own = gates + row * lstm_gates * units + first;
    Some a[lstm_gates];
    for (std::size_t k = 0; k < lstm_gates; ++k) {
      const Some from_x = Some::load(own + k * units);
      const Some from_h =
          Some::load_or_zero(row_or_null(product, (sample * lstm_gates + k) * units + first));
      const Some plus = Some::load(bias + k * units + first);
      for (std::size_t u = 0; u < width; ++u) {
        a[k].at[u] = from_x.at[u] + (from_h.at[u] + plus.at[u]);
      }
    }
    T* const cell = cells + row * units + first;
    Some c = Some::load_or_zero(step.is_first ? nullptr : cell - step.next);
    Some h;
    for (std::size_t u = 0; u < width; ++u) {
      a[0].at[u] = activated<Activation::sigmoid>(a[0].at[u]);
      a[1].at[u] = activated<Activation::sigmoid>(a[1].at[u]);
      a[2].at[u] = activated<Activation::tanh>(a[2].at[u]);
      a[3].at[u] = activated<Activation::sigmoid>(a[3].at[u]);
      c.at[u] = a[1].at[u] * c.at[u] + a[0].at[u] * a[2].at[u];
      h.at[u] = a[3].at[u] * activated<Activation::tanh>(c.at[u]);
    }
    for (std::size_t k = 0; k < lstm_gates; ++k) {
      a[k].store(own + k * units);
    }
    c.store(cell);
    states.store(step, sample, first, h);
  }
};

template <class T>
struct LstmUnitsBackward {
  RecurrentStep step;
  const T* gates;
  const T* cells;
  const T* d_y;  ///< null: zeros
  std::size_t d_y_stride;
  const T* d_hidden;  ///< null: zeros
  T* carry;
  T* d_gates;
  T* d_step;

  template <std::size_t width>
  KOKKOS_INLINE_FUNCTION void compute(std::size_t sample, std::size_t first) const {
    using Some = Units<width, T>;
    const std::size_t units = step.units;
    const std::size_t row = sample * step.positions + step.position;
    Some gate[lstm_gates];
    for (std::size_t k = 0; k < lstm_gates; ++k) {
      gate[k] = Some::load(gates + (row * lstm_gates + k) * units + first);
    }
    const T* const cell = cells + row * units + first;
    const Some c = Some::load(cell);
    const Some c_before = Some::load_or_zero(step.is_first ? nullptr : cell - step.next);
    const std::size_t at = sample * units + first;
    const Some above = Some::load_or_zero(row_or_null(d_y, sample * d_y_stride + first));
    const Some behind = Some::load_or_zero(row_or_null(d_hidden, at));
    Some d_c = Some::load_or_zero(step.is_last ? nullptr : carry + at);
    Some d_a[lstm_gates];
    for (std::size_t u = 0; u < width; ++u) {
      const T i = gate[0].at[u];
      const T f = gate[1].at[u];
      const T g = gate[2].at[u];
      const T o = gate[3].at[u];
      const T bent = activated<Activation::tanh>(c.at[u]);
      const T d_h = above.at[u] + behind.at[u];
      const T d = d_c.at[u] + d_h * o * slope<Activation::tanh>(bent);
      d_a[0].at[u] = d * g * slope<Activation::sigmoid>(i);
      d_a[1].at[u] = d * c_before.at[u] * slope<Activation::sigmoid>(f);
      d_a[2].at[u] = d * i * slope<Activation::tanh>(g);
      d_a[3].at[u] = d_h * bent * slope<Activation::sigmoid>(o);
      d_c.at[u] = d * f;
    }
    d_c.store(carry + at);
    for (std::size_t k = 0; k < lstm_gates; ++k) {
      d_a[k].store(d_gates + (row * lstm_gates + k) * units + first);
      d_a[k].store(d_step + (sample * lstm_gates + k) * units + first);
    }
  }
};

}  // namespace

template <class Exec, class T>
void lstm_step(const Exec& exec, const LstmForward<Exec, T>& lstm, std::size_t step) {
  const RecurrentDimensions& dimensions = lstm.dimensions;
  const RecurrentStep at(dimensions, step, "ops::lstm_step: there is no such step");
  const std::size_t state = dimensions.samples * dimensions.units;
  const std::size_t all = dimensions.rows() * dimensions.units;
  ZYGOS_REQUIRE(lstm.gates.size() == lstm_gates * all && lstm.cells.size() == all &&
                    lstm.before.size() == all && lstm.hidden.size() == state &&
                    (at.is_first || lstm.product.size() == lstm_gates * state) &&
                    lstm.bias.size() == lstm_gates * dimensions.units,
                "ops::lstm_step: dimensions do not fit");
  const StepOfResult of_y(dimensions, lstm.y.size(), at, "ops::lstm_step: y does not fit");
  for_each_unit(
      "zygos::ops::lstm_step", exec, dimensions,
      LstmUnits<T>{at,
                   at.is_first ? nullptr : lstm.product.data(),
                   lstm.bias.data(),
                   lstm.gates.data(),
                   lstm.cells.data(),
                   {lstm.before.data(), lstm.hidden.data(), of_y.row(lstm.y.data()), of_y.stride}});
}

template <class Exec, class T>
void lstm_step_backward(const Exec& exec, const LstmBackward<Exec, T>& lstm, std::size_t step) {
  const RecurrentDimensions& dimensions = lstm.dimensions;
  const RecurrentStep at(dimensions, step, "ops::lstm_step_backward: there is no such step");
  const std::size_t state = dimensions.samples * dimensions.units;
  const std::size_t all = dimensions.rows() * dimensions.units;
  ZYGOS_REQUIRE(lstm.gates.size() == lstm_gates * all && lstm.cells.size() == all &&
                    lstm.d_gates.size() == lstm_gates * all &&
                    lstm.d_step.size() == lstm_gates * state && lstm.carry.size() == state &&
                    (at.is_last || lstm.d_hidden.size() == state),
                "ops::lstm_step_backward: dimensions do not fit");
  const StepOfResult of_y(dimensions, lstm.d_y.size(), at,
                          "ops::lstm_step_backward: d_y does not fit");
  for_each_unit(
      "zygos::ops::lstm_step_backward", exec, dimensions,
      LstmUnitsBackward<T>{at, lstm.gates.data(), lstm.cells.data(), of_y.row(lstm.d_y.data()),
                           of_y.stride, at.is_last ? nullptr : lstm.d_hidden.data(),
                           lstm.carry.data(), lstm.d_gates.data(), lstm.d_step.data()});
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void lstm_step<SPACE, T>(const SPACE&, const LstmForward<SPACE, T>&, std::size_t); \
  template void lstm_step_backward<SPACE, T>(const SPACE&, const LstmBackward<SPACE, T>&,     \
                                             std::size_t);
#define ZYGOS_INSTANTIATE(SPACE)       \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
