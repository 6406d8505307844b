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

/// One work item draws `together` blocks: four features of one sample each. Several side by side
/// are what a host lane's vectors want.
template <std::size_t together, class T>
struct DropoutBlocks {
  RngKey key;
  std::uint32_t threshold;
  Wide<T> factor;
  const std::uint32_t* sample_ids;
  std::size_t columns;
  std::size_t items;  ///< per sample
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(const std::size_t item) const {
    const std::size_t sample = item / items;
    const std::size_t block = item % items * together;
    std::uint32_t words[4 * together];
    for (std::uint32_t b = 0; b < together; ++b) {
      const PhiloxBlock drawn =
          random_block(key, sample_ids[sample], static_cast<std::uint32_t>(block) + b);
      words[4 * b] = drawn.v[0];
      words[4 * b + 1] = drawn.v[1];
      words[4 * b + 2] = drawn.v[2];
      words[4 * b + 3] = drawn.v[3];
    }
    const std::size_t first = block * 4;
    const std::size_t count = columns - first < 4 * together ? columns - first : 4 * together;
    const T* const from = x + sample * columns + first;
    T* const to = y + sample * columns + first;
    for (std::size_t j = 0; j < count; ++j) {
      const Wide<T> kept = from[j] * factor;
      to[j] = static_cast<T>(words[j] < threshold ? Wide<T>(0) : kept);
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
  constexpr std::size_t together = HostSpace<Exec> ? 16 : 1;
  const std::size_t items = (x.extent(1) + 4 * together - 1) / (4 * together);
  const DropoutBlocks<together, T> body{
      mask.key,          mask.threshold, static_cast<Wide<T>>(mask.factor),
      sample_ids.data(), x.extent(1),    items,
      x.data(),          y.data()};
  for_each_element("zygos::ops::dropout", exec, x.extent(0) * items, chunk::heavy / (4 * together),
                   body);
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
