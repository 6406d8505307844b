// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of device lanes. Compiled only where a device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/conv/device/team_conv2d.hpp"

namespace zygos::ops {
namespace {

/// A channel's sum over samples and pixels. The order depends on the team's size alone.
template <class T>
struct ChannelSum {
  std::size_t samples;
  std::size_t channels;
  std::size_t pixels;
  const T* image;
  Wide<T>* sums;
  bool adds;

  template <class Row>
  KOKKOS_INLINE_FUNCTION void operator()(const Row& threads, std::size_t channel) const {
    const T* const from = image + channel * pixels;
    const std::size_t stride = channels * pixels;
    const double total = threads.sum(samples, pixels, [=](std::size_t sample, std::size_t i) {
      return static_cast<double>(from[sample * stride + i]);
    });
    threads.each(1, [=, this](std::size_t) {
      sums[channel] = (adds ? sums[channel] : Wide<T>(0)) + static_cast<Wide<T>>(total);
    });
  }
};

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
  const std::size_t channels = sums.size();
  const auto planes = static_cast<std::size_t>(samples) * channels;
  const std::size_t pixels = planes == 0 ? 0 : image.size() / planes;
  for_each_row("zygos::ops::sum_channels", exec, channels,
               planes == 0 ? 0 : image.size() / channels,
               ChannelSum<T>{static_cast<std::size_t>(samples), channels, pixels, image.data(),
                             sums.data(), into == Into::added});
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
