// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of device lanes. Compiled only where a device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/conv/device/team_conv2d.hpp"

namespace zygos::ops {
namespace {

/// A team per channel. The order of the sum depends on the team's size alone.
template <class Exec, class T>
void sum_by_teams(const Exec& exec, std::int64_t samples, std::int64_t pixels, const T* image,
                  VectorView<Exec, Wide<T>> sums, bool adds) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  const auto channels = static_cast<std::int64_t>(sums.size());
  Kokkos::parallel_for(
      "zygos::ops::sum_channels", Policy(exec, static_cast<int>(channels), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t channel = team.league_rank();
        double total = 0.0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, samples * pixels),
            [&](const std::int64_t i, double& sum) {
              const std::int64_t plane = i / pixels * channels + channel;
              sum += static_cast<double>(image[plane * pixels + i % pixels]);
            },
            total);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          sums(channel) = (adds ? sums(channel) : Wide<T>(0)) + static_cast<Wide<T>>(total);
        });
      });
}

}  // namespace

template <class Exec, class T>
void conv2d(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
            VectorView<Exec, const Wide<T>> w, VectorView<Exec, T> y,
            const Epilogue<Exec, T>& epilogue) {
  tiled_windows("zygos::ops::conv2d", exec, forward_gemm<T>(conv, w.data(), x.data(), y.data()),
                epilogue);
}

template <class Exec, class T>
void conv2d_backward_input(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                           VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> transposed,
                           VectorView<Exec, T> d_x, const Epilogue<Exec, T>& epilogue) {
  for_each_phase<Exec, T>(exec, conv, d_y, w, transposed, d_x, [&](const ImplicitGemm<T>& product) {
    tiled_windows("zygos::ops::conv2d_backward_input", exec, product, epilogue);
  });
}

template <class Exec, class T>
void conv2d_backward_filter(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
                            VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> partial_sums,
                            VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto product = forward_gemm<T>(conv, nullptr, x.data(), const_cast<T*>(d_y.data()));
  tiled_gradient(exec, product, partial_sums, d_w, into);
}

template <class Exec, class T>
void sum_channels(const Exec& exec, std::int64_t samples, VectorView<Exec, const T> image,
                  VectorView<Exec, Wide<T>> sums, Into into) {
  const auto numbers = static_cast<std::int64_t>(image.size());
  const auto planes = samples * static_cast<std::int64_t>(sums.size());
  sum_by_teams(exec, samples, planes == 0 ? 0 : numbers / planes, image.data(), sums,
               into == Into::added);
}

#define ZYGOS_INSTANTIATE_TYPE(SPACE, T)                                                         \
  template void conv2d<SPACE, T>(const SPACE&, const Conv2d&, VectorView<SPACE, const T>,        \
                                 VectorView<SPACE, const Wide<T>>, VectorView<SPACE, T>,         \
                                 const Epilogue<SPACE, T>&);                                     \
  template void conv2d_backward_input<SPACE, T>(                                                 \
      const SPACE&, const Conv2d&, VectorView<SPACE, const T>, VectorView<SPACE, const Wide<T>>, \
      VectorView<SPACE, Wide<T>>, VectorView<SPACE, T>, const Epilogue<SPACE, T>&);              \
  template void conv2d_backward_filter<SPACE, T>(                                                \
      const SPACE&, const Conv2d&, VectorView<SPACE, const T>, VectorView<SPACE, const T>,       \
      VectorView<SPACE, Wide<T>>, VectorView<SPACE, Wide<T>>, Into);                             \
  template void sum_channels<SPACE, T>(const SPACE&, std::int64_t, VectorView<SPACE, const T>,   \
                                       VectorView<SPACE, Wide<T>>, Into);
#define ZYGOS_INSTANTIATE(SPACE)        \
  ZYGOS_INSTANTIATE_TYPE(SPACE, float)  \
  ZYGOS_INSTANTIATE_TYPE(SPACE, double) \
  ZYGOS_INSTANTIATE_TYPE(SPACE, bf16)
ZYGOS_FOR_EACH_DEVICE_SPACE(ZYGOS_INSTANTIATE)

}  // namespace zygos::ops
