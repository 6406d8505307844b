// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of device lanes: cuDNN's where the build has it and it takes them, else our own.
// Compiled only where a device is enabled.
#include "ops/common/for_each_space.hpp"
#include "ops/common/row_reduction.hpp"
#include "ops/conv/device/cudnn_conv.hpp"
#include "ops/conv/device/team_conv2d.hpp"
#include "ops/gemm/device/finish.hpp"

#include <type_traits>

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

/// compute(cuDNN, call) for floats and doubles on an NVIDIA GPU; false where that is not so.
template <class Exec, class T, class F>
bool with_cudnn([[maybe_unused]] const Exec& exec, [[maybe_unused]] const Conv2d& conv,
                [[maybe_unused]] VectorView<Exec, Wide<T>> scratch,
                [[maybe_unused]] const F& compute) {
  if constexpr (std::is_same_v<T, Wide<T>> && requires { exec.cuda_stream(); }) {
    if (CudnnConv* const cudnn = device_cudnn_conv()) {
      return compute(*cudnn, CudnnCall{conv,
                                       dtype_of<T>,
                                       exec.cuda_device(),
                                       exec.cuda_stream(),
                                       {scratch.data(), scratch.size() * sizeof(T)}});
    }
  }
  return false;
}

/// The bias has an element for each of an image's planes.
template <class Exec, class T>
void finish_image(const char* label, const Exec& exec, std::int64_t samples, std::int64_t planes,
                  std::int64_t pixels, T* image, const Epilogue<Exec, T>& epilogue) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    finish_rows(label, exec, static_cast<std::size_t>(samples * planes),
                static_cast<std::size_t>(pixels), image, epilogue,
                static_cast<std::uint32_t>(planes));
  }
}

}  // namespace

template <class Exec, class T>
void conv2d(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
            VectorView<Exec, const Wide<T>> w, VectorView<Exec, T> y,
            const Epilogue<Exec, T>& epilogue, VectorView<Exec, Wide<T>> scratch) {
  if (with_cudnn<Exec, T>(exec, conv, scratch, [&](CudnnConv& cudnn, const CudnnCall& call) {
        return cudnn.forward(call, x.data(), w.data(), y.data());
      })) {
    return finish_image("zygos::ops::conv2d_epilogue", exec, conv.samples, conv.filters,
                        conv.y.output() * conv.x.output(), y.data(), epilogue);
  }
  tiled_windows("zygos::ops::conv2d", exec, forward_gemm<T>(conv, w.data(), x.data(), y.data()),
                epilogue);
}

template <class Exec, class T>
void conv2d_backward_input(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                           VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> transposed,
                           VectorView<Exec, T> d_x, const Epilogue<Exec, T>& epilogue) {
  if (with_cudnn<Exec, T>(exec, conv, transposed, [&](CudnnConv& cudnn, const CudnnCall& call) {
        return cudnn.input_gradient(call, w.data(), d_y.data(), d_x.data());
      })) {
    return finish_image("zygos::ops::conv2d_backward_input_epilogue", exec, conv.samples,
                        conv.channels, conv.y.input * conv.x.input, d_x.data(), epilogue);
  }
  for_each_phase<Exec, T>(exec, conv, d_y, w, transposed, d_x, [&](const ImplicitGemm<T>& product) {
    tiled_windows("zygos::ops::conv2d_backward_input", exec, product, epilogue);
  });
}

template <class Exec, class T>
void conv2d_backward_filter(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
                            VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> partial_sums,
                            VectorView<Exec, Wide<T>> d_w, Into into) {
  if (with_cudnn<Exec, T>(exec, conv, partial_sums, [&](CudnnConv& cudnn, const CudnnCall& call) {
        return cudnn.filter_gradient(call, x.data(), d_y.data(), d_w.data(), into == Into::added);
      })) {
    return;
  }
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
                                 const Epilogue<SPACE, T>&, VectorView<SPACE, Wide<T>>);         \
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
