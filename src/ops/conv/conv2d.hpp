// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolution of images, as networks mean it (cross-correlation: kernels are not flipped), and its
// two gradients. Images are (samples, channels, height, width), weights (filters, channels /
// groups, kernel y, kernel x).
#pragma once

#include "ops/conv/geometry.hpp"
#include "ops/conv/implicit_gemm.hpp"
#include "ops/gemm/gemm.hpp"

#include "zygos/tensor/views.hpp"

#include <cstdint>

namespace zygos::ops {

/// Whether the receptive field of a channel fits into a host lane's buffers: about 16,000 elements.
bool fits(const Conv2d& conv);

/// y = epilogue(x * w); the bias has an element per filter. `scratch`: what a device's library may
/// write to, of any size; hosts need none.
template <class Exec, class T>
void conv2d(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
            VectorView<Exec, const Wide<T>> w, VectorView<Exec, T> y,
            const Epilogue<Exec, T>& epilogue = {}, VectorView<Exec, Wide<T>> scratch = {});

/// d_x from d_y, and a transposed convolution of d_y: epilogue(d_x), its bias with an element per
/// channel. `transposed`: scratch of as many elements as there are weights.
template <class Exec, class T>
void conv2d_backward_input(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                           VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> transposed,
                           VectorView<Exec, T> d_x, const Epilogue<Exec, T>& epilogue = {});

/// d_w. `partial_sums`: scratch of filter_scratch() elements.
template <class Exec, class T>
void conv2d_backward_filter(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
                            VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> partial_sums,
                            VectorView<Exec, Wide<T>> d_w, Into into);
template <class T>
std::int64_t filter_scratch(const Conv2d& conv);

/// sums (channels) = or += the sums over samples and pixels of an image (samples, channels,
/// pixels).
template <class Exec, class T>
void sum_channels(const Exec& exec, std::int64_t samples, VectorView<Exec, const T> image,
                  VectorView<Exec, Wide<T>> sums, Into into);

/// The part of a gradient whose pixels have the same taps: all for stride 1.
struct ConvPhase {
  Conv2d conv;
  WindowAxis y;
  WindowAxis x;
  std::int64_t first_y;  ///< of the kernel's rows that count, from which on every step_y-th does
  std::int64_t step_y;
  std::int64_t first_x;
  std::int64_t step_x;
  std::int64_t at;  ///< where its weights lie in `transposed`

  /// Kernels of a channel and a filter.
  std::int64_t kernels() const { return conv.weights() / (conv.y.kernel * conv.x.kernel); }
  /// Of a group, and of a kernel those that count.
  KOKKOS_FUNCTION std::int64_t filters() const { return conv.filters / conv.groups; }
  KOKKOS_FUNCTION std::int64_t taps() const { return y.taps * x.taps; }
  std::int64_t weights() const { return kernels() * taps(); }

  /// Where the taps of a channel, of all groups' channels, and a filter of its group begin in the
  /// convolution's weights, and from there to the next filter.
  KOKKOS_FUNCTION std::int64_t from(std::int64_t channel, std::int64_t filter) const {
    const std::int64_t channels = conv.channels / conv.groups;
    const std::int64_t kernel =
        (channel / channels * filters() + filter) * channels + channel % channels;
    return (kernel * conv.y.kernel + first_y) * conv.x.kernel + first_x;
  }
  std::int64_t from_step() const {
    return conv.channels / conv.groups * conv.y.kernel * conv.x.kernel;
  }
  /// The same in the phase's own, (groups, channels, filters, taps).
  KOKKOS_FUNCTION std::int64_t to(std::int64_t channel, std::int64_t filter) const {
    return (channel * filters() + filter) * taps();
  }
  /// Whether they lie side by side there.
  bool in_a_run() const {
    return (x.taps == 1 || step_x == 1) && (y.taps == 1 || step_y * conv.x.kernel == x.taps);
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void copy_taps(const T* in, T* out) const {
    for (std::int64_t i = 0; i < y.taps; ++i, in += step_y * conv.x.kernel, out += x.taps) {
      for (std::int64_t j = 0; j < x.taps; ++j) {
        out[j] = in[j * step_x];
      }
    }
  }
};

/// The implicit GEMM of a convolution; operands are null where only its shape is asked for.
template <class T>
ImplicitGemm<T> forward_gemm(const Conv2d& conv, const Wide<T>* w = nullptr, const T* x = nullptr,
                             T* y = nullptr);
/// The index-th of stride y * stride x phases.
ConvPhase input_phase(const Conv2d& conv, std::int64_t index);
/// Its implicit GEMM; `w`: its transposed weights.
template <class T>
ImplicitGemm<T> input_gradient_gemm(const ConvPhase& phase, const Wide<T>* w, const T* d_y, T* d_x);

}  // namespace zygos::ops
