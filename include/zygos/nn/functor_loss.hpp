// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A loss of the caller's own, written as a functor over Views. What includes this is compiled for
// every execution space of the build, so it is for the one source file that makes the loss
// (docs/add_a_loss.md).
#pragma once

#include "zygos/core/dtype.hpp"
#include "zygos/lane/dispatch.hpp"
#include "zygos/nn/loss.hpp"
#include "zygos/tensor/views.hpp"

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace zygos::nn {

struct FunctorLossOptions {
  std::string type = "functor";     ///< its name in messages
  double flops_per_element = 10.0;  ///< of a prediction, gradient included: the planner believes it
  /// What every element of a target must lie in, for who loads data; none: any number will do.
  std::optional<TargetRange> target_range{};
  /// What hits() count, see Score; empty: the functor has none.
  std::string score{};
  std::int32_t best_hits = 1;
  /// Throws UsageError unless shapes of a sample's prediction and target fit. Without it both have
  /// the same number of elements; labels are one a sample, below the prediction's elements.
  std::function<void(const Shape& prediction, const Shape& target)> check{};
};

namespace detail {

/// True for functors with `static constexpr bool wants_labels = true`.
template <class Functor>
inline constexpr bool reads_labels = requires {
  requires Functor::wants_labels;
};
/// Element type of a functor's targets where the model computes in T.
template <class Functor, class T>
using TargetOf = std::conditional_t<reads_labels<Functor>, std::int32_t, T>;

}  // namespace detail

/// A loss of whole samples. `prediction`, `target` and `gradient` are Views of rank 1: a sample's K
/// elements side by side (images in the order channel, row, column). loss() is one number, and
/// gradient() adds its derivatives to `gradient`, which is zero before; divided by nothing. T is
/// float or double; both functions are KOKKOS_FUNCTIONs and const. With `static constexpr bool
/// wants_labels = true` targets are std::int32_t. An optional `std::int32_t hits(prediction,
/// target)` scores a sample.
template <class Functor>
concept SampleLoss =
    requires(const Functor& functor, const VectorView<Kokkos::Serial, const double>& prediction,
             const VectorView<Kokkos::Serial, const detail::TargetOf<Functor, double>>& target,
             const VectorView<Kokkos::Serial, double>& gradient) {
  { functor.loss(prediction, target) } -> std::convertible_to<double>;
  functor.gradient(prediction, target, gradient);
};

/// A loss that compares element by element: a sample's is the mean of value(p, t) over its
/// elements, and derivative(p, t) is that by p. Both take doubles, whatever the model computes in.
template <class Functor>
concept ElementLoss = requires(const Functor& functor, double prediction, double target) {
  { functor.value(prediction, target) } -> std::convertible_to<double>;
  { functor.derivative(prediction, target) } -> std::convertible_to<double>;
};

namespace detail {

template <class Functor>
inline constexpr bool has_hits =
    requires(const Functor& functor, const VectorView<Kokkos::Serial, const double>& prediction,
             const VectorView<Kokkos::Serial, const TargetOf<Functor, double>>& target) {
  { functor.hits(prediction, target) } -> std::convertible_to<std::int32_t>;
};

/// An element-wise loss as one of whole samples.
template <ElementLoss Functor>
struct MeanOverRow {
  Functor element;

  template <class Prediction, class Target>
  KOKKOS_FUNCTION double loss(const Prediction& prediction, const Target& target) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < prediction.extent(0); ++k) {
      sum += element.value(static_cast<double>(prediction(k)), static_cast<double>(target(k)));
    }
    return sum / static_cast<double>(prediction.extent(0));
  }

  template <class Prediction, class Target, class Gradient>
  KOKKOS_FUNCTION void gradient(const Prediction& prediction, const Target& target,
                                const Gradient& gradient) const {
    const auto width = static_cast<double>(prediction.extent(0));
    for (std::size_t k = 0; k < prediction.extent(0); ++k) {
      gradient(k) = static_cast<typename Gradient::value_type>(
          element.derivative(static_cast<double>(prediction(k)), static_cast<double>(target(k))) /
          width);
    }
  }
};

/// One sample, by one thread, so that sums have one order.
template <class Exec, class T, class Functor>
struct FunctorLossRow {
  using Target = TargetOf<Functor, T>;

  Functor functor;
  const T* predictions;
  const Target* targets;
  std::size_t columns;
  std::size_t target_columns;
  double factor;
  double* losses;
  std::int32_t* sample_hits;
  T* d;  ///< null when only evaluating

  KOKKOS_FUNCTION void operator()(const std::size_t n) const {
    const VectorView<Exec, const T> prediction(predictions + n * columns, columns);
    const VectorView<Exec, const Target> target(targets + n * target_columns, target_columns);
    losses[n] = static_cast<double>(functor.loss(prediction, target));
    sample_hits[n] = 0;
    if constexpr (has_hits<Functor>) {
      sample_hits[n] = functor.hits(prediction, target);
    }
    if (d == nullptr) {
      return;
    }
    const VectorView<Exec, T> gradient(d + n * columns, columns);
    for (std::size_t k = 0; k < columns; ++k) {
      gradient(k) = T(0);
    }
    functor.gradient(prediction, target, gradient);
    for (std::size_t k = 0; k < columns; ++k) {
      gradient(k) = static_cast<T>(factor * static_cast<double>(gradient(k)));
    }
  }
};

/// What of it is ordinary compiled C++.
class FunctorLossBase : public Loss {
 public:
  /// Throws UsageError for options that make no sense.
  FunctorLossBase(FunctorLossOptions options, bool labels, bool hits);

  std::string_view type() const override { return options_.type; }
  bool wants_labels() const override { return labels_; }
  std::optional<TargetRange> target_range() const override { return options_.target_range; }
  std::optional<Score> score() const override;
  void check(const Shape& prediction, const Shape& target, std::int64_t classes) const override;
  Cost cost(std::int64_t batch, const Shape& prediction, DType dtype) const override;

 protected:
  /// args.totals of the samples' losses and hits, in an order that depends on their number alone.
  static void add_up(const lane::Execution& execution, const LossArgs& args);

 private:
  FunctorLossOptions options_;
  bool labels_;
};

template <SampleLoss Functor>
class FunctorLoss final : public FunctorLossBase {
 public:
  FunctorLoss(Functor functor, FunctorLossOptions options)
      : FunctorLossBase(std::move(options), reads_labels<Functor>, has_hits<Functor>),
        functor_(std::move(functor)) {}

  void evaluate(const lane::Execution& execution, const LossArgs& args,
                std::int64_t global_batch) const override {
    lane::dispatch(execution, args.prediction.dtype(), [&](const auto& exec, auto type) {
      using Exec = std::decay_t<decltype(exec)>;
      using T = typename decltype(type)::type;
      run<Exec, T>(exec, args, 1.0 / static_cast<double>(global_batch));
    });
    add_up(execution, args);
  }

 private:
  template <class Exec, class T>
  void run(const Exec& exec, const LossArgs& args, double factor) const {
    using Row = FunctorLossRow<Exec, T, Functor>;
    const auto prediction = matrix_view<Exec, const T>(args.prediction);
    const auto target = matrix_view<Exec, const typename Row::Target>(args.target);
    const Row row{functor_,
                  prediction.data(),
                  target.data(),
                  prediction.extent(1),
                  target.extent(1),
                  factor,
                  args.sample_losses.data<double>(),
                  args.sample_hits.data<std::int32_t>(),
                  args.d_prediction.data<T>()};
    Kokkos::parallel_for("zygos::nn::functor_loss",
                         Kokkos::RangePolicy<Exec>(exec, 0, prediction.extent(0)), row);
  }

  Functor functor_;
};

}  // namespace detail

/// A loss from a functor, which is copied into kernels. On one space the bits depend neither on the
/// number of threads nor on how a batch is cut. Throws UsageError for bad options.
template <SampleLoss Functor>
LossPtr functor_loss(Functor functor, FunctorLossOptions options = {}) {
  return std::make_shared<detail::FunctorLoss<Functor>>(std::move(functor), std::move(options));
}

/// The same of an element-wise functor.
template <ElementLoss Functor>
LossPtr functor_loss(Functor functor, FunctorLossOptions options = {}) {
  return functor_loss(detail::MeanOverRow<Functor>{std::move(functor)}, std::move(options));
}

}  // namespace zygos::nn
