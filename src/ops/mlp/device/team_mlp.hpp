// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Multilayer perceptrons on a device: a team has a tile of samples, whose features are in its
// scratch memory; a thread sums one unit of several samples in registers. Neighbours read
// neighbouring weights, and the same features.
#pragma once

#include "ops/common/blocking.hpp"
#include "ops/common/launch.hpp"
#include "ops/elementwise/activation_math.hpp"
#include "ops/mlp/mlp.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace zygos::ops {
namespace detail {

template <class T, class Exec>
struct TeamMlpKernel {
  static constexpr int samples_of_thread = 8;
  static constexpr int tile = sizeof(T) > 4 ? 16 : 32;
  static constexpr int team_size = threads_of_team<Exec>(128);
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  /// (features, tile)
  using Features =
      Kokkos::View<T * [static_cast<std::size_t>(tile)], Kokkos::LayoutRight,
                   typename Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct Link {
    const T* kernel;
    const T* bias;
    std::int64_t inputs;
    std::int64_t outputs;
    Activation activation;
  };

  TeamMlpKernel(std::span<const MlpLayer<Exec, T>> layers, MatrixView<Exec, const T> inputs,
                MatrixView<Exec, T> outputs)
      : x(inputs), y(outputs), count(static_cast<int>(layers.size())), width(inputs.extent(1)) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const MlpLayer<Exec, T>& layer = layers[i];
      links[i] = {layer.kernel.data(), layer.bias.data(),
                  static_cast<std::int64_t>(layer.kernel.extent(0)),
                  static_cast<std::int64_t>(layer.kernel.extent(1)), layer.activation};
      width = std::max(width, layer.kernel.extent(1));
    }
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Features from(team.team_scratch(0), width);
    Features to(team.team_scratch(0), width);
    const std::int64_t first = std::int64_t{team.league_rank()} * tile;
    const std::int64_t inputs = links[0].inputs;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, inputs * tile), [&](const std::int64_t i) {
      const std::int64_t sample = first + i / inputs;
      from(i % inputs, i / inputs) =
          sample < static_cast<std::int64_t>(x.extent(0)) ? x(sample, i % inputs) : T(0);
    });
    team.team_barrier();
    for (int layer = 0; layer < count; ++layer) {
      apply(team, links[layer], from, to);
      team.team_barrier();
      const Features before = from;
      from = to;
      to = before;
    }
    const std::int64_t outputs = links[count - 1].outputs;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, outputs * tile), [&](const std::int64_t i) {
      const std::int64_t sample = first + i / outputs;
      if (sample < static_cast<std::int64_t>(y.extent(0))) {
        y(sample, i % outputs) = from(i % outputs, i / outputs);
      }
    });
  }

  KOKKOS_FUNCTION static void apply(const Member& team, const Link& link, const Features& from,
                                    const Features& to) {
    constexpr std::int64_t groups = tile / samples_of_thread;
    Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, link.outputs * groups), [&](const std::int64_t i) {
          const std::int64_t unit = i % link.outputs;
          const std::int64_t begin = i / link.outputs * samples_of_thread;
          T sums[samples_of_thread] = {};
          for (std::int64_t k = 0; k < link.inputs; ++k) {
            const T weight = link.kernel[k * link.outputs + unit];
            for (int s = 0; s < samples_of_thread; ++s) {
              sums[s] += weight * from(k, begin + s);
            }
          }
          for (int s = 0; s < samples_of_thread; ++s) {
            const T sum = link.bias == nullptr ? sums[s] : sums[s] + link.bias[unit];
            to(unit, begin + s) = activated(link.activation, sum);
          }
        });
  }

  MatrixView<Exec, const T> x;
  MatrixView<Exec, T> y;
  Link links[max_mlp_layers] = {};
  int count;
  std::size_t width;
};

}  // namespace detail

template <class Exec, class T>
void team_mlp(const Exec& exec, std::span<const MlpLayer<Exec, T>> layers,
              MatrixView<Exec, const T> x, MatrixView<Exec, T> y) {
  using Kernel = detail::TeamMlpKernel<T, Exec>;
  require_mlp<Exec, T>(layers, x, y);
  const auto teams = ceil_div(static_cast<std::int64_t>(x.extent(0)), Kernel::tile);
  if (teams == 0) {
    return;
  }
  const Kernel kernel(layers, x, y);
  typename Kernel::Policy policy(exec, static_cast<int>(teams), Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(2 * Kernel::Features::shmem_size(kernel.width)));
  Kokkos::parallel_for("zygos::ops::mlp", functor_as_argument(policy), kernel);
}

}  // namespace zygos::ops
