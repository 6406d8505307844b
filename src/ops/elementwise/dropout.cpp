// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/dropout.hpp"

#include "ops/common/for_each_space.hpp"
#include "ops/common/index_divisor.hpp"
#include "ops/common/launch.hpp"

namespace zygos::ops {
namespace {

/// One work item draws `together` blocks: four features of one run of a sample each, of which the
/// first block may begin before the run. Several side by side are what a host lane's vectors want.
/// What is left of a feature is stored, or `adds` to residual.
template <std::size_t together, bool adds, class T>
struct DropoutBlocks {
  DropoutMask mask;
  Wide<T> factor;
  const std::uint32_t* sample_ids;
  std::size_t runs;     ///< per sample
  std::size_t columns;  ///< per run
  std::size_t items;    ///< per run
  const T* x;
  const T* residual;
  T* y;
  IndexDivisor by_items{static_cast<std::int64_t>(items)};
  IndexDivisor by_runs{static_cast<std::int64_t>(runs)};

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const IndexDivisor::Parts place = by_items.divide(static_cast<std::int64_t>(item));
    const IndexDivisor::Parts of_sample = by_runs.divide(place.quotient);
    const auto run = static_cast<std::size_t>(place.quotient);
    const auto sample = static_cast<std::size_t>(of_sample.quotient);
    const std::size_t feature =
        mask.features.first + static_cast<std::size_t>(of_sample.rest) * mask.features.stride;
    const std::size_t lead = feature % 4;  // words of the first block that are before the run
    const std::size_t block = static_cast<std::size_t>(place.rest) * together;
    std::uint32_t words[4 * together];
    draw_words<together>(key_of(mask), sample_ids[sample],
                         static_cast<std::uint32_t>(feature / 4 + block), words);
    const std::size_t from = block == 0 ? lead : 0;
    // The last block of a run that begins with one may have nothing to do.
    const std::size_t end = columns + lead > block * 4 ? columns + lead - block * 4 : 0;
    const std::size_t to = end < 4 * together ? end : 4 * together;
    const std::size_t begin = run * columns + block * 4 - lead;
    for (std::size_t j = from; j < to; ++j) {
      const Wide<T> kept = x[begin + j] * factor;
      const Wide<T> dropped = words[j] < mask.threshold ? Wide<T>(0) : kept;
      if constexpr (adds) {
        y[begin + j] = static_cast<T>(dropped + residual[begin + j]);
      } else {
        y[begin + j] = static_cast<T>(dropped);
      }
    }
  }
};

template <bool adds, class Exec, class T>
void launch(const char* label, const Exec& exec, const DropoutMask& mask,
            VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
            MatrixView<Exec, const T> residual, MatrixView<Exec, T> y) {
  constexpr std::size_t together = HostSpace<Exec> ? blocks_together : 1;
  const FeatureRuns& features = mask.features;
  const std::size_t columns = features.length == 0 ? x.extent(1) : features.length;
  const std::size_t runs = columns == 0 ? 1 : x.extent(1) / columns;
  // A run that begins within a block has up to three words before it.
  const std::size_t lead = features.first % 4 == 0 && features.stride % 4 == 0 ? 0 : 3;
  const std::size_t items = (columns + lead + 4 * together - 1) / (4 * together);
  const DropoutBlocks<together, adds, T> body{launched<Exec>(mask),
                                              static_cast<Wide<T>>(mask.factor),
                                              sample_ids.data(),
                                              runs,
                                              columns,
                                              items,
                                              x.data(),
                                              residual.data(),
                                              y.data()};
  for_each_element(label, exec, x.extent(0) * runs * items, chunk::heavy / (4 * together), body);
}

}  // namespace

DropoutMask dropout_mask(std::uint64_t seed, std::uint64_t step, std::uint32_t layer, double rate,
                         const std::uint64_t* step_on_lane) {
  const RngKey key{seed, RngPurpose::dropout, layer};
  return {.key = step_on_lane == nullptr ? key_at_step(key, step) : key,
          .threshold = static_cast<std::uint32_t>(rate * 4294967296.0),
          .factor = 1.0 / (1.0 - rate),
          .step_on_lane = step_on_lane};
}

template <class Exec, class T>
void apply_dropout(const Exec& exec, const DropoutMask& mask,
                   VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
                   MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(
      x.extent(0) == y.extent(0) && x.extent(1) == y.extent(1) && sample_ids.size() == x.extent(0),
      "ops::apply_dropout: dimensions do not fit");
  launch<false>("zygos::ops::dropout", exec, mask, sample_ids, x, MatrixView<Exec, const T>(), y);
}

template <class Exec, class T>
void dropout_add(const Exec& exec, const DropoutMask& mask,
                 VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
                 MatrixView<Exec, const T> residual, MatrixView<Exec, T> y) {
  const auto fits = [&](const auto& other) {
    return x.extent(0) == other.extent(0) && x.extent(1) == other.extent(1);
  };
  ZYGOS_REQUIRE(fits(residual) && fits(y) && sample_ids.size() == x.extent(0),
                "ops::dropout_add: dimensions do not fit");
  launch<true>("zygos::ops::dropout_add", exec, mask, sample_ids, x, residual, y);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                   \
  template void apply_dropout<SPACE, T>(const SPACE&, const DropoutMask&,                  \
                                        VectorView<SPACE, const std::uint32_t>,            \
                                        MatrixView<SPACE, const T>, MatrixView<SPACE, T>); \
  template void dropout_add<SPACE, T>(                                                     \
      const SPACE&, const DropoutMask&, VectorView<SPACE, const std::uint32_t>,            \
      MatrixView<SPACE, const T>, MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
