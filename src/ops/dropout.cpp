// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout.hpp"

#include "ops/for_each_space.hpp"
#include "ops/launch.hpp"

namespace zygos::ops {
namespace {

constexpr std::uint64_t split_mix(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}
static_assert(split_mix(0) == 0xE220A8397B1DCDAFu, "first value of the published generator");

/// One work item draws one block: four features of one sample.
template <class T>
struct DropoutBlock {
  RngKey key;
  std::uint32_t threshold;
  Wide<T> factor;
  const std::uint32_t* sample_ids;
  std::size_t columns;
  std::size_t blocks;  ///< per sample
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const std::size_t sample = item / blocks;
    const std::size_t block = item % blocks;
    const PhiloxBlock words =
        random_block(key, sample_ids[sample], static_cast<std::uint32_t>(block));
    const std::size_t first = block * 4;
    const std::size_t count = columns - first < 4 ? columns - first : 4;
    const std::size_t offset = sample * columns + first;
    for (std::size_t j = 0; j < count; ++j) {
      y[offset + j] = static_cast<T>(words.v[j] < threshold ? Wide<T>(0) : x[offset + j] * factor);
    }
  }
};

}  // namespace

DropoutMask dropout_mask(std::uint64_t seed, std::uint64_t step, std::uint32_t layer, double rate) {
  return {{split_mix(seed ^ split_mix(step)), RngPurpose::dropout, layer},
          static_cast<std::uint32_t>(rate * 4294967296.0),
          1.0 / (1.0 - rate)};
}

template <class Exec, class T>
void apply_dropout(const Exec& exec, const DropoutMask& mask,
                   VectorView<Exec, const std::uint32_t> sample_ids, MatrixView<Exec, const T> x,
                   MatrixView<Exec, T> y) {
  ZYGOS_REQUIRE(
      x.extent(0) == y.extent(0) && x.extent(1) == y.extent(1) && sample_ids.size() == x.extent(0),
      "ops::apply_dropout: extents do not fit");
  const std::size_t blocks = (x.extent(1) + 3) / 4;
  const DropoutBlock<T> body{mask.key,          mask.threshold, static_cast<Wide<T>>(mask.factor),
                             sample_ids.data(), x.extent(1),    blocks,
                             x.data(),          y.data()};
  for_each_element("zygos::ops::dropout", exec, x.extent(0) * blocks, chunk::heavy / 4, body);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                        \
  template void apply_dropout<SPACE, T>(const SPACE&, const DropoutMask&,       \
                                        VectorView<SPACE, const std::uint32_t>, \
                                        MatrixView<SPACE, const T>, MatrixView<SPACE, T>);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
