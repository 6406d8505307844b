// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/loss/loss.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/loss/loss_totals.hpp"

namespace zygos::ops {
namespace {

/// An element's loss, its derivative, and whether the prediction is right.
template <ElementLoss which>
struct Element {
  double prediction;
  double target;

  KOKKOS_INLINE_FUNCTION double loss() const {
    const double error = prediction - target;
    if constexpr (which == ElementLoss::squared_error) {
      return error * error;
    } else if constexpr (which == ElementLoss::absolute_error) {
      return Kokkos::abs(error);
    } else {
      // log(1 + exp(p)) without an overflow: written for -|p|. fmax would hide NaN as zero.
      const double above = prediction < 0.0 ? 0.0 : prediction;
      return above - prediction * target + Kokkos::log1p(Kokkos::exp(-Kokkos::abs(prediction)));
    }
  }
  KOKKOS_INLINE_FUNCTION double slope() const {
    const double error = prediction - target;
    if constexpr (which == ElementLoss::squared_error) {
      return 2.0 * error;
    } else if constexpr (which == ElementLoss::absolute_error) {
      return error > 0.0 ? 1.0 : (error < 0.0 ? -1.0 : 0.0 * error);
    } else {
      return 1.0 / (1.0 + Kokkos::exp(-prediction)) - target;
    }
  }
  KOKKOS_INLINE_FUNCTION bool hit() const {
    return which == ElementLoss::binary_cross_entropy && (prediction > 0.0) == (target > 0.5);
  }
};

template <ElementLoss which, class T>
struct ElementRow {
  const T* prediction;
  const Wide<T>* target;
  std::size_t columns;
  double factor;
  double* losses;
  std::int32_t* hits;
  T* d;

  KOKKOS_FUNCTION void operator()(const std::size_t n) const {
    const auto width = static_cast<double>(columns);
    double sum = 0.0;
    std::int32_t hit = 1;
    for (std::size_t i = n * columns; i < (n + 1) * columns; ++i) {
      const Element<which> element{static_cast<double>(prediction[i]),
                                   static_cast<double>(target[i])};
      sum += element.loss();
      hit = element.hit() ? hit : 0;
      if (d != nullptr) {
        d[i] = static_cast<T>(factor / width * element.slope());
      }
    }
    losses[n] = sum / width;
    hits[n] = hit;
  }
};

template <class T>
struct DiceRow {
  const T* prediction;
  const Wide<T>* target;
  std::size_t columns;
  double smooth;
  double factor;
  double* losses;
  std::int32_t* hits;
  T* d;

  KOKKOS_FUNCTION void operator()(const std::size_t n) const {
    const T* const p = prediction + n * columns;
    const Wide<T>* const t = target + n * columns;
    double both = 0.0;
    double sum = 0.0;
    std::int64_t common = 0;
    std::int64_t marked = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      both += static_cast<double>(p[i]) * static_cast<double>(t[i]);
      sum += static_cast<double>(p[i]) + static_cast<double>(t[i]);
      const int inside = p[i] > Wide<T>(0.5) ? 1 : 0;
      const int wanted = t[i] > Wide<T>(0.5) ? 1 : 0;
      common += inside * wanted;
      marked += inside + wanted;
    }
    const double upper = 2.0 * both + smooth;
    const double lower = sum + smooth;
    losses[n] = 1.0 - upper / lower;
    hits[n] = marked == 0 ? dice_hits : static_cast<std::int32_t>(2 * common * dice_hits / marked);
    if (d != nullptr) {
      const auto level = static_cast<Wide<T>>(factor * upper / (lower * lower));
      const auto slope = static_cast<Wide<T>>(2.0 * factor / lower);
      for (std::size_t i = 0; i < columns; ++i) {
        d[n * columns + i] = static_cast<T>(level - slope * t[i]);
      }
    }
  }
};

}  // namespace

template <class Exec, class T>
void element_loss(const Exec& exec, ElementLoss which, MatrixView<Exec, const T> prediction,
                  MatrixView<Exec, const Wide<T>> target, double factor,
                  const LossResults<Exec, T>& results) {
  const std::size_t samples = prediction.extent(0);
  require_fit(samples, samples, results);
  ZYGOS_REQUIRE(target.size() == prediction.size(), "ops::element_loss: sizes differ");
  const auto run = [&]<ElementLoss known>() {
    const ElementRow<known, T> row{prediction.data(),
                                   target.data(),
                                   prediction.extent(1),
                                   factor,
                                   results.sample_losses.data(),
                                   results.sample_hits.data(),
                                   results.d_prediction.data()};
    evaluate_loss("zygos::ops::element_loss", exec, samples, row.columns, row,
                  results.totals.data());
  };
  switch (which) {
    case ElementLoss::squared_error:
      return run.template operator()<ElementLoss::squared_error>();
    case ElementLoss::absolute_error:
      return run.template operator()<ElementLoss::absolute_error>();
    case ElementLoss::binary_cross_entropy:
      return run.template operator()<ElementLoss::binary_cross_entropy>();
  }
}

template <class Exec, class T>
void dice_loss(const Exec& exec, double smooth, MatrixView<Exec, const T> prediction,
               MatrixView<Exec, const Wide<T>> target, double factor,
               const LossResults<Exec, T>& results) {
  const std::size_t samples = prediction.extent(0);
  require_fit(samples, samples, results);
  ZYGOS_REQUIRE(target.size() == prediction.size(), "ops::dice_loss: sizes differ");
  const DiceRow<T> row{prediction.data(),
                       target.data(),
                       prediction.extent(1),
                       smooth,
                       factor,
                       results.sample_losses.data(),
                       results.sample_hits.data(),
                       results.d_prediction.data()};
  evaluate_loss("zygos::ops::dice_loss", exec, samples, row.columns, row, results.totals.data());
}

template <class Exec>
void loss_totals(const Exec& exec, VectorView<Exec, const double> sample_losses,
                 VectorView<Exec, const std::int32_t> sample_hits,
                 VectorView<Exec, double> totals) {
  ZYGOS_REQUIRE(sample_losses.size() == sample_hits.size() && totals.size() == 3,
                "ops::loss_totals: one loss and hit per sample, and three totals");
  sum_totals(exec, sample_losses.size(), 1.0, sample_losses.data(), sample_hits.data(),
             totals.data());
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                      \
  template void element_loss<SPACE, T>(const SPACE&, ElementLoss, MatrixView<SPACE, const T>, \
                                       MatrixView<SPACE, const Wide<T>>, double,              \
                                       const LossResults<SPACE, T>&);                         \
  template void dice_loss<SPACE, T>(const SPACE&, double, MatrixView<SPACE, const T>,         \
                                    MatrixView<SPACE, const Wide<T>>, double,                 \
                                    const LossResults<SPACE, T>&);
#define ZYGOS_INSTANTIATE(SPACE)                                                  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)                                            \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double)                                           \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)                                             \
  template void loss_totals<SPACE>(const SPACE&, VectorView<SPACE, const double>, \
                                   VectorView<SPACE, const std::int32_t>,         \
                                   VectorView<SPACE, double>);
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
