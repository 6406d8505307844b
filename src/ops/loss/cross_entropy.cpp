// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/common/for_each_space.hpp"
#include "ops/common/tree_reduction.hpp"
#include "ops/loss/cross_entropy_problem.hpp"
#include "ops/loss/cross_entropy_team.hpp"
#include "ops/loss/loss_totals.hpp"

#include <algorithm>

namespace zygos::ops {
namespace {

/// Of the turns of a loop over a block, which has all of them even where the block is not whole, so
/// that it is made of vectors, too.
template <bool whole>
KOKKOS_INLINE_FUNCTION bool has(std::size_t j, std::size_t count) {
  return whole || j < count;
}

/// A position whose classes are neighbours in memory.
template <class T>
struct CrossEntropyRow : CrossEntropy<T> {
  using Base = CrossEntropy<T>;
  using Base::beside;
  using Base::classes;
  using Base::keeps_powers;

  KOKKOS_FUNCTION void operator()(const std::size_t n) const {
    T* const out = this->d == nullptr ? nullptr : this->d + n * classes;
    if (this->labels[n] < 0) {
      this->leave_out(n);
      for (std::size_t k = 0; k < classes && out != nullptr; ++k) {
        out[k] = T(0);
      }
      return;
    }
    const T* const row = this->logits + n * classes;
    const auto label = static_cast<std::size_t>(this->labels[n]);
    const Wide<T> top = largest(row);
    const double sum = add_powers(row, top, out);
    const bool hit = row[label] == top && is_first(row, top, label);
    const double distances = this->smoothing > 0.0 ? add_distances(row, top) : 0.0;
    const auto weights = this->settle(n, top, row[label], sum, distances, hit);
    if (out == nullptr) {
      return;
    }
    const double of_label =
        this->power(row[label], top, out + label) * weights.of_power - weights.of_label;
    if (this->smoothing > 0.0) {
      write_smoothed(row, top, weights, out);
    } else {
      for (std::size_t k = 0; k < classes; ++k) {
        out[k] = static_cast<T>(this->power(row[k], top, out + k) * weights.of_power);
      }
    }
    out[label] = static_cast<T>(of_label);
  }

  KOKKOS_FUNCTION void write_smoothed(const T* row, Wide<T> top,
                                      const typename Base::Weights& weights, T* out) const {
    for (std::size_t k = 0; k < classes; ++k) {
      out[k] = static_cast<T>(this->power(row[k], top, out + k) * weights.of_power -
                              weights.of_class * this->weight_of(k));
    }
  }

  KOKKOS_FUNCTION double add_distances(const T* row, Wide<T> top) const {
    double sums[beside] = {};
    for (std::size_t first = 0; first < classes; first += beside) {
      for (std::size_t j = 0; j < beside && first + j < classes; ++j) {
        sums[j] += this->weight_of(first + j) *
                   (static_cast<double>(top) - static_cast<double>(row[first + j]));
      }
    }
    return tree_sum(sums);
  }

  /// Whether no class before this one has the largest logit, too.
  KOKKOS_FUNCTION bool is_first(const T* row, Wide<T> top, std::size_t label) const {
    bool first = true;
    for (std::size_t k = 0; k < label; ++k) {
      first = first && row[k] != top;
    }
    return first;
  }

  KOKKOS_FUNCTION Wide<T> largest(const T* row) const {
    Wide<T> tops[beside];
    for (std::size_t j = 0; j < beside; ++j) {
      tops[j] = row[0];
    }
    std::size_t k = 0;
    for (; k + beside <= classes; k += beside) {
      raise<true>(row + k, beside, tops);
    }
    if (k < classes) {
      raise<false>(row + k, classes - k, tops);
    }
    return tree_max(tops);
  }
  template <bool whole>
  KOKKOS_INLINE_FUNCTION void raise(const T* row, std::size_t count, Wide<T>* tops) const {
    for (std::size_t j = 0; j < beside; ++j) {
      const Wide<T> logit = has<whole>(j, count) ? Wide<T>(row[j]) : tops[j];
      tops[j] = logit > tops[j] ? logit : tops[j];
    }
  }

  KOKKOS_FUNCTION double add_powers(const T* row, Wide<T> top, T* powers) const {
    double sums[beside] = {};
    std::size_t k = 0;
    for (; k + beside <= classes; k += beside) {
      add_block<true>(row + k, beside, top, sums, powers == nullptr ? nullptr : powers + k);
    }
    if (k < classes) {
      add_block<false>(row + k, classes - k, top, sums, powers == nullptr ? nullptr : powers + k);
    }
    return tree_sum(sums);
  }
  template <bool whole>
  KOKKOS_INLINE_FUNCTION void add_block(const T* row, std::size_t count, Wide<T> top, double* sums,
                                        T* powers) const {
    Wide<T> some[beside];
    for (std::size_t j = 0; j < beside; ++j) {
      some[j] = has<whole>(j, count) ? exponential(row[j] - top) : Wide<T>(0);
      sums[j] += static_cast<double>(some[j]);
    }
    for (std::size_t j = 0; j < beside && keeps_powers && powers != nullptr; ++j) {
      if (has<whole>(j, count)) {
        powers[j] = static_cast<T>(some[j]);
      }
    }
  }
};

/// Positions of a sample which are neighbours in memory: `width` of them, or what is left.
template <std::size_t width, class T>
struct CrossEntropyColumns : CrossEntropy<T> {
  using Base = CrossEntropy<T>;
  using Base::beside;
  using Base::classes;
  using Base::keeps_powers;
  using Base::positions;
  std::size_t blocks;  ///< of a sample

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const std::size_t sample = item / blocks;
    const std::size_t begin = item % blocks * width;
    const std::size_t first = sample * positions * classes + begin;
    const std::size_t count = positions - begin < width ? positions - begin : width;
    T* const out = this->d == nullptr ? nullptr : this->d + first;
    if (count == width) {
      evaluate<true>(sample * positions + begin, count, this->logits + first, out);
    } else {
      evaluate<false>(sample * positions + begin, count, this->logits + first, out);
    }
  }

  template <bool whole>
  KOKKOS_FUNCTION void evaluate(std::size_t n, std::size_t count, const T* in, T* out) const {
    Wide<T> tops[width];
    std::int32_t best[width];
    find_largest<whole>(count, in, tops, best);
    double sums[width];
    add_powers<whole>(count, in, tops, out, sums);
    double distances[width] = {};
    if (this->smoothing > 0.0) {
      add_distances(count, in, tops, distances);
    }
    double of_powers[width] = {};
    double of_classes[width] = {};
    double of_labels[width] = {};
    for (std::size_t j = 0; j < count; ++j) {
      const std::int32_t label = this->labels[n + j];
      if (label < 0) {
        this->leave_out(n + j);
        continue;
      }
      const std::size_t at = static_cast<std::size_t>(label) * positions + j;
      const bool hit = best[j] == label && in[at] == tops[j];
      const auto weights = this->settle(n + j, tops[j], in[at], sums[j], distances[j], hit);
      of_powers[j] = weights.of_power;
      of_classes[j] = weights.of_class;
      if (out != nullptr) {
        of_labels[j] = this->power(in[at], tops[j], out + at) * weights.of_power - weights.of_label;
      }
    }
    if (out != nullptr) {
      write_gradient<whole>(this->labels + n, count, in, tops, {of_powers, of_classes, of_labels},
                            out);
    }
  }

  KOKKOS_INLINE_FUNCTION void add_distances(std::size_t count, const T* in, const Wide<T>* tops,
                                            double* distances) const {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t j = 0; j < count; ++j) {
        distances[j] += this->weight_of(k) *
                        (static_cast<double>(tops[j]) - static_cast<double>(in[k * positions + j]));
      }
    }
  }

  template <bool whole>
  KOKKOS_INLINE_FUNCTION void find_largest(std::size_t count, const T* in, Wide<T>* tops,
                                           std::int32_t* best) const {
    for (std::size_t j = 0; j < width; ++j) {
      tops[j] = has<whole>(j, count) ? Wide<T>(in[j]) : Wide<T>(0);
      best[j] = 0;
    }
    for (std::size_t k = 1; k < classes; ++k) {
      for (std::size_t j = 0; j < width; ++j) {
        const Wide<T> logit = has<whole>(j, count) ? Wide<T>(in[k * positions + j]) : Wide<T>(0);
        best[j] = logit > tops[j] ? static_cast<std::int32_t>(k) : best[j];
        tops[j] = logit > tops[j] ? logit : tops[j];
      }
    }
  }

  template <bool whole>
  KOKKOS_INLINE_FUNCTION void add_powers(std::size_t count, const T* in, const Wide<T>* tops,
                                         T* powers, double* totals) const {
    double sums[beside][width] = {};
    for (std::size_t k = 0; k < classes; k += beside) {
      for (std::size_t i = 0; i < beside; ++i) {
        if (k + i < classes) {
          const std::size_t at = (k + i) * positions;
          add_class<whole>(count, in + at, tops, powers == nullptr ? nullptr : powers + at,
                           sums[i]);
        }
      }
    }
    for (std::size_t half = beside / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        for (std::size_t j = 0; j < width; ++j) {
          sums[i][j] += sums[i + half][j];
        }
      }
    }
    for (std::size_t j = 0; j < width; ++j) {
      totals[j] = sums[0][j];
    }
  }
  template <bool whole>
  KOKKOS_INLINE_FUNCTION void add_class(std::size_t count, const T* in, const Wide<T>* tops,
                                        T* powers, double* sums) const {
    Wide<T> some[width];
    for (std::size_t j = 0; j < width; ++j) {
      some[j] = has<whole>(j, count) ? exponential(in[j] - tops[j]) : Wide<T>(0);
      sums[j] += static_cast<double>(some[j]);
    }
    for (std::size_t j = 0; j < width && keeps_powers && powers != nullptr; ++j) {
      if (has<whole>(j, count)) {
        powers[j] = static_cast<T>(some[j]);
      }
    }
  }

  /// By position; of_labels are the whole gradients of labels.
  struct GradientParts {
    const double* of_powers;
    const double* of_classes;
    const double* of_labels;
  };

  template <bool whole>
  KOKKOS_INLINE_FUNCTION void write_gradient(const std::int32_t* wanted, std::size_t count,
                                             const T* in, const Wide<T>* tops,
                                             const GradientParts& parts, T* out) const {
    for (std::size_t k = 0; k < classes; ++k) {
      const double weight = this->weight_of(k);
      for (std::size_t j = 0; j < width; ++j) {
        if (has<whole>(j, count)) {
          const std::size_t at = k * positions + j;
          const double part = this->power(in[at], tops[j], out + at) * parts.of_powers[j] -
                              parts.of_classes[j] * weight;
          // Not valid: 0, even of NaN.
          out[at] = wanted[j] < 0                               ? T(0)
                    : wanted[j] == static_cast<std::int32_t>(k) ? static_cast<T>(parts.of_labels[j])
                                                                : static_cast<T>(part);
        }
      }
    }
  }
};

template <HostSpace Exec, class T>
void for_each_position(const Exec& exec, std::size_t count, const CrossEntropy<T>& all) {
  for_each_element("zygos::ops::cross_entropy", exec, count, samples_per_chunk(all.classes),
                   CrossEntropyRow<T>{all});
}

/// A thread for few classes, a team for many.
template <DeviceSpace Exec, class T>
void for_each_position(const Exec& exec, std::size_t count, const CrossEntropy<T>& all) {
  if (all.classes > CrossEntropy<T>::beside) {
    for_each_row("zygos::ops::cross_entropy", exec, count, all.classes, CrossEntropyTeam<T>{all});
  } else {
    for_each_element("zygos::ops::cross_entropy", exec, count, 1, CrossEntropyRow<T>{all});
  }
}

/// shares(n), of every position of a sample: positions / those that are valid.
template <HostSpace Exec>
void share_out(const Exec& exec, std::size_t samples, std::size_t positions,
               const std::int32_t* labels, double* shares) {
  const std::size_t together = std::max<std::size_t>(chunk::light / positions, 1);
  for_each_element("zygos::ops::valid_shares", exec, samples, together, [=](std::size_t sample) {
    const std::int32_t* const mine = labels + sample * positions;
    const auto valid =
        std::count_if(mine, mine + positions, [](std::int32_t label) { return label >= 0; });
    std::fill_n(
        shares + sample * positions, positions,
        static_cast<double>(positions) / static_cast<double>(std::max<std::ptrdiff_t>(valid, 1)));
  });
}

template <DeviceSpace Exec>
void share_out(const Exec& exec, std::size_t samples, std::size_t positions,
               const std::int32_t* labels, double* shares) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for(
      "zygos::ops::valid_shares", Policy(exec, static_cast<int>(samples), Kokkos::AUTO),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const std::size_t first = static_cast<std::size_t>(team.league_rank()) * positions;
        std::int64_t valid = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, positions),
            [&](const std::size_t i, std::int64_t& part) { part += labels[first + i] < 0 ? 0 : 1; },
            valid);
        const double share =
            static_cast<double>(positions) / static_cast<double>(valid > 0 ? valid : 1);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, positions),
                             [&](const std::size_t i) { shares[first + i] = share; });
      });
}

}  // namespace

template <class Exec, class T>
void cross_entropy(const Exec& exec, MatrixView<Exec, const T> logits,
                   VectorView<Exec, const std::int32_t> labels, double factor,
                   const LossResults<Exec, T>& results, ClassOrder order,
                   const SoftTargets<Exec>& targets) {
  const std::size_t samples = logits.extent(0);
  const std::size_t positions = samples == 0 ? 1 : labels.size() / samples;
  require_fit(samples, labels.size(), results);
  ZYGOS_REQUIRE(
      positions > 0 && labels.size() == samples * positions && logits.extent(1) % positions == 0,
      "ops::cross_entropy: every sample has as many labels, and logits for each");
  const std::size_t classes = logits.extent(1) / positions;
  const bool weighs = targets.class_weights.data() != nullptr;
  ZYGOS_REQUIRE(!weighs || samples == 0 || targets.class_weights.size() == classes,
                "ops::cross_entropy: a weight for every class");
  const CrossEntropy<T> all{logits.data(),
                            labels.data(),
                            classes,
                            positions,
                            factor,
                            results.sample_losses.data(),
                            results.sample_hits.data(),
                            results.d_prediction.data(),
                            targets.smoothing,
                            targets.class_weights.data(),
                            weighs ? targets.weight_sum : static_cast<double>(classes)};
  if (positions > 1 && samples > 0) {
    share_out(exec, samples, positions, all.labels, all.losses);
  }
  if (order == ClassOrder::last) {
    for_each_position(exec, labels.size(), all);
  } else {
    constexpr std::size_t width = HostSpace<Exec> ? 16 : 1;
    const std::size_t blocks = (positions + width - 1) / width;
    for_each_element("zygos::ops::cross_entropy", exec, samples * blocks,
                     samples_per_chunk(all.classes * width),
                     CrossEntropyColumns<width, T>{all, blocks});
  }
  sum_totals(exec, labels.size(), static_cast<double>(positions), all.losses, all.hits,
             results.totals.data());
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                       \
  template void cross_entropy<SPACE, T>(                                                       \
      const SPACE&, MatrixView<SPACE, const T>, VectorView<SPACE, const std::int32_t>, double, \
      const LossResults<SPACE, T>&, ClassOrder, const SoftTargets<SPACE>&);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
