// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/exponential.hpp"
#include "ops/for_each_space.hpp"
#include "ops/loss_totals.hpp"

#include <algorithm>
#include <type_traits>

namespace zygos::ops {
namespace {

/// Neighbours in memory.
struct Dense {
  KOKKOS_INLINE_FUNCTION std::size_t operator()(std::size_t k) const { return k; }
};
struct Strided {
  std::size_t stride;
  KOKKOS_INLINE_FUNCTION std::size_t operator()(std::size_t k) const { return k * stride; }
};

/// One position of the softmax cross-entropy: losses[n], hits[n] and its part of d. Where samples
/// have several positions, losses[n] holds the position's share in the sample's loss before, times
/// the number of positions: 1 if all are judged.
template <class T>
struct CrossEntropyRow {
  const T* logits;
  const std::int32_t* labels;
  std::size_t classes;
  std::size_t positions;  ///< of a sample
  ClassOrder order;
  double factor;
  double* losses;
  std::int32_t* hits;
  T* d;  ///< null when only evaluating

  KOKKOS_FUNCTION void operator()(const std::size_t n) const {
    if (order == ClassOrder::last) {
      evaluate_position(n, n * classes, Dense{});
    } else {
      evaluate_position(n, n / positions * positions * classes + n % positions, Strided{positions});
    }
  }

  /// `at(k)` is where class k lies behind the first one.
  template <class At>
  KOKKOS_FUNCTION void evaluate_position(std::size_t n, std::size_t first, const At& at) const {
    if (labels[n] < 0) {
      return leave_out(n, first, at);
    }
    const T* const row = logits + first;
    const auto label = static_cast<std::size_t>(labels[n]);
    const double share = positions == 1 ? 1.0 : losses[n];
    const Wide<T> top = largest(row, at);
    std::size_t best = 0;
    while (best < classes && row[at(best)] != top) {
      ++best;  // to the end for NaN
    }
    T* const out = d == nullptr ? nullptr : d + first;
    const double sum = add_powers(row, top, out, at);
    // top - row[label] >= 0 and log(sum) >= 0: nothing cancels.
    losses[n] = share * (Kokkos::log(sum) +
                         (static_cast<double>(top) - static_cast<double>(row[at(label)])));
    hits[n] = best == label ? 1 : 0;
    if (out != nullptr) {
      scale_gradient(row, top, out, label, sum, share, at);
    }
  }

  template <class At>
  KOKKOS_FUNCTION void leave_out(std::size_t n, std::size_t first, const At& at) const {
    losses[n] = 0.0;
    hits[n] = -1;
    for (std::size_t k = 0; k < classes && d != nullptr; ++k) {
      d[first + at(k)] = T(0);
    }
  }

  /// Numbers side by side in a loop over classes, so that operations need not wait for each other.
  static constexpr std::size_t beside = 32;

  template <class At>
  KOKKOS_FUNCTION Wide<T> largest(const T* row, const At& at) const {
    Wide<T> tops[beside];
    for (std::size_t j = 0; j < beside; ++j) {
      tops[j] = row[0];
    }
    std::size_t k = 0;
    for (; k + beside <= classes; k += beside) {
      for (std::size_t j = 0; j < beside; ++j) {
        const Wide<T> logit = row[at(k + j)];
        tops[j] = logit > tops[j] ? logit : tops[j];
      }
    }
    for (; k < classes; ++k) {
      tops[0] = row[at(k)] > tops[0] ? row[at(k)] : tops[0];
    }
    Wide<T> top = tops[0];
    for (const Wide<T> other : tops) {
      top = other > top ? other : top;
    }
    return top;
  }

  /// Whether powers wait in the gradient's memory for their sum: bf16 would round them, so there
  /// they are computed again.
  static constexpr bool keeps_powers = std::is_same_v<T, Wide<T>>;

  template <class At>
  KOKKOS_FUNCTION double add_powers(const T* row, Wide<T> top, T* powers, const At& at) const {
    double sums[beside] = {};
    std::size_t k = 0;
    for (; k + beside <= classes; k += beside) {
      Wide<T> some[beside];
      for (std::size_t j = 0; j < beside; ++j) {
        some[j] = exponential(row[at(k + j)] - top);
        sums[j] += static_cast<double>(some[j]);
      }
      for (std::size_t j = 0; j < beside && keeps_powers && powers != nullptr; ++j) {
        powers[at(k + j)] = static_cast<T>(some[j]);
      }
    }
    double sum = 0.0;
    for (; k < classes; ++k) {
      const Wide<T> power = exponential(row[at(k)] - top);
      sum += static_cast<double>(power);
      if (keeps_powers && powers != nullptr) {
        powers[at(k)] = static_cast<T>(power);
      }
    }
    for (const double part : sums) {
      sum += part;
    }
    return sum;
  }

  template <class At>
  KOKKOS_FUNCTION void scale_gradient(const T* row, Wide<T> top, T* out, std::size_t label,
                                      double sum, double of_position, const At& at) const {
    const auto power = [&](std::size_t k) {
      return static_cast<double>(keeps_powers ? Wide<T>(out[at(k)])
                                              : exponential(row[at(k)] - top));
    };
    const double weight = of_position * factor / static_cast<double>(positions);
    const double share = weight / sum;
    const double of_label = power(label) * share - weight;
    for (std::size_t k = 0; k < classes; ++k) {
      out[at(k)] = static_cast<T>(power(k) * share);
    }
    out[at(label)] = static_cast<T>(of_label);
  }
};

/// shares(n), of every position of a sample: positions / those that are judged.
template <HostSpace Exec>
void share_out(const Exec& exec, std::size_t samples, std::size_t positions,
               const std::int32_t* labels, double* shares) {
  const std::size_t together = std::max<std::size_t>(chunk::light / positions, 1);
  for_each_element("zygos::ops::judged_shares", exec, samples, together, [=](std::size_t sample) {
    const std::int32_t* const mine = labels + sample * positions;
    const auto judged =
        std::count_if(mine, mine + positions, [](std::int32_t label) { return label >= 0; });
    std::fill_n(
        shares + sample * positions, positions,
        static_cast<double>(positions) / static_cast<double>(std::max<std::ptrdiff_t>(judged, 1)));
  });
}

template <DeviceSpace Exec>
void share_out(const Exec& exec, std::size_t samples, std::size_t positions,
               const std::int32_t* labels, double* shares) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for(
      "zygos::ops::judged_shares", Policy(exec, static_cast<int>(samples), Kokkos::AUTO),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const std::size_t first = static_cast<std::size_t>(team.league_rank()) * positions;
        std::int64_t judged = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, positions),
            [&](const std::size_t i, std::int64_t& part) { part += labels[first + i] < 0 ? 0 : 1; },
            judged);
        const double share =
            static_cast<double>(positions) / static_cast<double>(judged > 0 ? judged : 1);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, positions),
                             [&](const std::size_t i) { shares[first + i] = share; });
      });
}

}  // namespace

template <class Exec, class T>
void cross_entropy(const Exec& exec, MatrixView<Exec, const T> logits,
                   VectorView<Exec, const std::int32_t> labels, double factor,
                   const LossResults<Exec, T>& results, ClassOrder order) {
  const std::size_t samples = logits.extent(0);
  const std::size_t positions = samples == 0 ? 1 : labels.size() / samples;
  require_fit(samples, labels.size(), results);
  ZYGOS_REQUIRE(
      positions > 0 && labels.size() == samples * positions && logits.extent(1) % positions == 0,
      "ops::cross_entropy: every sample has as many labels, and logits for each");
  const CrossEntropyRow<T> row{logits.data(),
                               labels.data(),
                               logits.extent(1) / positions,
                               positions,
                               order,
                               factor,
                               results.sample_losses.data(),
                               results.sample_hits.data(),
                               results.d_prediction.data()};
  if (positions > 1 && samples > 0) {
    share_out(exec, samples, positions, row.labels, row.losses);
  }
  evaluate_loss("zygos::ops::cross_entropy", exec, labels.size(), row.classes, row,
                results.totals.data(), positions);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                               \
  template void cross_entropy<SPACE, T>(const SPACE&, MatrixView<SPACE, const T>,      \
                                        VectorView<SPACE, const std::int32_t>, double, \
                                        const LossResults<SPACE, T>&, ClassOrder);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
