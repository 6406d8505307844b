// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of host lanes: threads over the pieces of the algorithm that algorithm.hpp chooses.
#include "ops/common/for_each_space.hpp"
#include "ops/common/launch.hpp"
#include "ops/conv/device/team_conv2d.hpp"
#include "ops/conv/host/algorithm.hpp"
#include "ops/conv/host/chwn_col2im.hpp"
#include "ops/conv/host/chwn_conv.hpp"
#include "ops/conv/host/chwn_weight_gradient.hpp"
#include "ops/conv/host/col2im.hpp"
#include "ops/conv/host/im2col_conv.hpp"
#include "ops/conv/host/nchw_weight_gradient.hpp"
#include "ops/conv/host/nhwc_weight_gradient.hpp"
#include "ops/elementwise/activation_math.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace zygos::ops {
namespace {

/// Multiplications that are worth a thread's way to the queue.
constexpr std::int64_t queue_volume = 400'000;

/// Pieces of about `volume` multiplications that are taken from it at a time.
std::int64_t pieces_together(std::int64_t volume) {
  return std::clamp<std::int64_t>(queue_volume / std::max<std::int64_t>(volume, 1), 1, 1024);
}

/// Pieces that there should be where how many does not matter to the sums; one thread shares with
/// none.
template <class Exec>
std::int64_t pieces_for(const Exec& exec, std::int64_t of_thread = 2) {
  const std::int64_t threads = exec.concurrency();
  return threads > 1 ? of_thread * threads : 1;
}

template <Activation which, class T>
void finish_plane(T* out, std::int64_t count, T bias) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = activated<which>(out[i] + bias);
  }
}

template <Activation which, class T>
void finish_piece(const typename Im2colConv<T>::Piece& piece, std::int64_t rows_of_group,
                  std::int64_t pixels, const Wide<T>* bias,
                  typename Im2colConv<T>::ResultPanel& tile) {
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    const Wide<T> b =
        bias == nullptr ? Wide<T>(0) : bias[piece.group * rows_of_group + piece.first_row + row];
    finish_plane<which>(tile.data() + row * microkernel::panel<Wide<T>>, pixels, b);
  }
}

template <class Exec, class T>
void by_chwn(const char* label, const Exec& exec, const ImplicitGemm<T>& product,
             const Epilogue<Exec, T>& epilogue) {
  const ChwnConv<T> pieces(product, pieces_for(exec));
  const T* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(
        label, exec, pieces.count(), pieces_together(pieces.volume()), [&](std::int64_t index) {
          typename ChwnConv<T>::Scratch scratch;
          const auto piece = pieces[index];
          const std::int64_t numbers = piece.band.pixels() * microkernel::width<T>;
          pieces.load(piece, scratch);
          for_each_part(0, product.rows, microkernel::max_rows,
                        [&](std::int64_t first, std::int64_t count, std::int64_t) {
                          pieces.compute(piece, {first, count}, scratch);
                          const std::int64_t row = piece.group * product.rows + first;
                          for (std::int64_t r = 0; !plain && r < count; ++r) {
                            finish_plane<which>(scratch.tile.data() + r * numbers, numbers,
                                                bias == nullptr ? T(0) : bias[row + r]);
                          }
                          pieces.store(piece, {first, count}, scratch);
                        });
        });
  });
}

/// Some samples of a batch.
template <class T>
ImplicitGemm<T> samples_of(const ImplicitGemm<T>& product, const SampleGroup& samples) {
  ImplicitGemm<T> part = product;
  part.samples = samples.count;
  if (part.from != nullptr) {
    part.from += samples.first * product.groups * product.channels * product.from_plane();
  }
  part.to += samples.first * product.groups * product.rows * product.to_plane();
  return part;
}

/// f(samples, algorithm) for all at once or, where CHWN layout suits those that fill registers and
/// another algorithm the few behind them, for either part: bits are the same.
template <class T, class Choose, class F>
void for_each_algorithm(std::int64_t samples, const Choose& choose, const F& f) {
  const std::int64_t rest = samples % microkernel::width<Wide<T>>;
  const SampleGroup first{0, samples - rest};
  const SampleGroup last{first.count, rest};
  if (first.count > 0 && rest > 0 && choose(first) != choose(last)) {
    f(first, choose(first));
    f(last, choose(last));
    return;
  }
  const SampleGroup all{0, samples};
  f(all, choose(all));
}

template <class Exec, class T>
void by_im2col(const char* label, const Exec& exec, const ImplicitGemm<T>& product,
               const Epilogue<Exec, T>& epilogue) {
  const Im2colConv<T> pieces(product, pieces_for(exec, 8));
  const Wide<T>* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(
        label, exec, pieces.count(), pieces_together(pieces.volume()), [&](std::int64_t index) {
          typename Im2colConv<T>::Scratch scratch;
          const auto piece = pieces[index];
          for (std::int64_t part = 0; part < pieces.panels_of(piece); ++part) {
            const Panel<Wide<T>> panel = pieces.panel_of(piece, part);
            pieces.compute(piece, part, panel, scratch);
            if (!plain) {
              finish_piece<which, T>(piece, product.rows, panel.pixels(), bias, scratch.tile);
            }
            pieces.store(piece, panel, scratch.tile);
          }
        });
  });
}

template <class Exec, class T>
void compute(const char* label, const Exec& exec, const ImplicitGemm<T>& product,
             const Epilogue<Exec, T>& epilogue) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    for_each_algorithm<T>(
        product.samples,
        [&](const SampleGroup& samples) {
          return conv_algorithm<T>(ConvPass::forward, {samples_of(product, samples)});
        },
        [&](const SampleGroup& samples, ConvAlgorithm algorithm) {
          const auto part = samples_of(product, samples);
          algorithm == ConvAlgorithm::chwn_conv ? by_chwn(label, exec, part, epilogue)
                                                : by_im2col(label, exec, part, epilogue);
        });
  } else {
    by_im2col(label, exec, product, epilogue);
  }
}

template <class Exec, class T>
void by_chwn_col2im(const char* label, const Exec& exec, const ImplicitGemm<T>& product, T* out,
                    const Epilogue<Exec, T>& epilogue) {
  const ChwnCol2im<T> columns(product, out, pieces_for(exec));
  const T* const bias = epilogue.bias.data();
  const std::int64_t numbers = product.from_plane() * microkernel::width<T>;
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    const std::int64_t volume = product.rows * product.depth() * product.pixels() *
                                product.samples * product.groups / columns.count();
    for_each_piece(label, exec, columns.count(), pieces_together(volume), [&](std::int64_t index) {
      typename ChwnCol2im<T>::Scratch scratch;
      const auto piece = columns[index];
      columns.load(piece, scratch);
      for (std::int64_t channel = piece.begin; channel < piece.end; ++channel) {
        columns.compute(piece, channel, scratch);
        if (!plain) {
          finish_plane<which>(
              scratch.plane.data(), numbers,
              bias == nullptr ? T(0) : bias[piece.group * product.channels + channel]);
        }
        columns.store(piece, channel, scratch);
      }
    });
  });
}

template <class Exec, class T>
void by_col2im(const char* label, const Exec& exec, const ImplicitGemm<T>& product, T* out,
               const Epilogue<Exec, T>& epilogue) {
  const Col2im<T> columns(product, out);
  const Wide<T>* const bias = epilogue.bias.data();
  const std::int64_t volume = product.rows * product.depth() * product.pixels();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(label, exec, columns.count(), pieces_together(volume), [&](std::int64_t piece) {
      columns.compute(piece);
      const std::int64_t first = piece % product.groups * product.channels;
      T* plane = out + piece * product.channels * product.from_plane();
      for (std::int64_t i = 0; !plain && i < product.channels; ++i, plane += product.from_plane()) {
        finish_plane<which>(plane, product.from_plane(), bias == nullptr ? T(0) : bias[first + i]);
      }
    });
  });
}

/// Products of registers that the gradient of a sample's input takes by implicit GEMM.
template <class T>
std::int64_t implicit_products(const Conv2d& conv) {
  const std::int64_t pixels =
      conv.y.input * ceil_div(conv.x.input, static_cast<std::int64_t>(microkernel::width<Wide<T>>));
  return conv.weights() * pixels;
}

/// The partial sums of a weight gradient, then their reduction.
template <class Exec, class T, class Gradient>
void reduce(const Exec& exec, const ImplicitGemm<T>& product, const Gradient& gradient,
            Wide<T>* d_w, Into into) {
  const std::int64_t rows = product.groups * product.rows;
  const std::int64_t volume = product.samples * rows * product.depth() * product.pixels() /
                              std::max<std::int64_t>(gradient.count(), 1);
  for_each_piece("zygos::ops::conv2d_backward_filter", exec, gradient.count(),
                 pieces_together(volume), [&](std::int64_t piece) { gradient.compute(piece); });
  for_each_piece("zygos::ops::conv2d_add_up", exec, rows, gradient.count() * product.depth(),
                 [&](std::int64_t row) { gradient.add_up(row, d_w, into == Into::added); });
}

/// Sums of a channel, several beside each other: one after the other they would wait for the adder.
template <class T>
double channel_sum(std::int64_t samples, std::int64_t stride, std::int64_t pixels, const T* image) {
  constexpr std::int64_t beside = 32;
  std::array<double, beside> totals{};
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const T* const in = image + sample * stride;
    std::int64_t i = 0;
    for (; i + beside <= pixels; i += beside) {
      for (std::int64_t j = 0; j < beside; ++j) {
        totals[static_cast<std::size_t>(j)] += static_cast<double>(in[i + j]);
      }
    }
    for (std::int64_t j = 0; i + j < pixels; ++j) {
      totals[static_cast<std::size_t>(j)] += static_cast<double>(in[i + j]);
    }
  }
  double total = 0.0;
  for (const double part : totals) {
    total += part;
  }
  return total;
}

}  // namespace

template <class Exec, class T>
void conv2d(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
            VectorView<Exec, const Wide<T>> w, VectorView<Exec, T> y,
            const Epilogue<Exec, T>& epilogue, VectorView<Exec, Wide<T>> /*scratch*/) {
  compute("zygos::ops::conv2d", exec, forward_gemm<T>(conv, w.data(), x.data(), y.data()),
          epilogue);
}

template <class Exec, class T>
void conv2d_backward_input(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                           VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> transposed,
                           VectorView<Exec, T> d_x, const Epilogue<Exec, T>& epilogue) {
  const char* const label = "zygos::ops::conv2d_backward_input";
  const auto forward = forward_gemm<T>(conv, w.data(), nullptr, const_cast<T*>(d_y.data()));
  if constexpr (std::is_same_v<T, Wide<T>>) {
    const auto choose = [&](const ImplicitGemm<T>& product) {
      return conv_algorithm<T>(ConvPass::input_gradient, {product, implicit_products<T>(conv)});
    };
    if (choose(forward) != ConvAlgorithm::implicit_gemm) {
      return for_each_algorithm<T>(
          conv.samples,
          [&](const SampleGroup& samples) { return choose(samples_of(forward, samples)); },
          [&](const SampleGroup& samples, ConvAlgorithm algorithm) {
            const auto part = samples_of(forward, samples);
            T* const out = d_x.data() +
                           samples.first * forward.groups * forward.channels * forward.from_plane();
            algorithm == ConvAlgorithm::chwn_col2im
                ? by_chwn_col2im(label, exec, part, out, epilogue)
                : by_col2im(label, exec, part, out, epilogue);
          });
    }
  }
  for_each_phase<Exec, T>(exec, conv, d_y, w, transposed, d_x, [&](const ImplicitGemm<T>& product) {
    compute(label, exec, product, epilogue);
  });
}

template <class T>
std::int64_t filter_scratch(const Conv2d& conv) {
  return weight_gradient_workspace(forward_gemm<T>(conv));
}

template <class Exec, class T>
void conv2d_backward_filter(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
                            VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> partial_sums,
                            VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto product = forward_gemm<T>(conv, nullptr, x.data(), const_cast<T*>(d_y.data()));
  if constexpr (std::is_same_v<T, Wide<T>>) {
    T* const partial = partial_sums.data();
    switch (conv_algorithm<T>(ConvPass::weight_gradient, {product})) {
      case ConvAlgorithm::nhwc_weight_gradient:
        return reduce(exec, product, NhwcWeightGradient<T>(product, partial, pieces_for(exec)),
                      d_w.data(), into);
      case ConvAlgorithm::chwn_weight_gradient:
        return reduce(exec, product, ChwnWeightGradient<T>(product, partial, pieces_for(exec)),
                      d_w.data(), into);
      default:
        break;
    }
  }
  reduce(exec, product, NchwWeightGradient<T>(product, partial_sums.data()), d_w.data(), into);
}

template <class Exec, class T>
void sum_channels(const Exec& exec, std::int64_t samples, VectorView<Exec, const T> image,
                  VectorView<Exec, Wide<T>> sums, Into into) {
  const auto channels = static_cast<std::int64_t>(sums.size());
  const std::int64_t stride =
      static_cast<std::int64_t>(image.size()) / std::max<std::int64_t>(samples, 1);
  const std::int64_t pixels = stride / std::max<std::int64_t>(channels, 1);
  for_each_piece("zygos::ops::sum_channels", exec, channels, pieces_together(samples * pixels),
                 [&](std::int64_t channel) {
                   const auto total = static_cast<Wide<T>>(
                       channel_sum(samples, stride, pixels, image.data() + channel * pixels));
                   Wide<T>& sum = sums.data()[channel];
                   sum = into == Into::added ? sum + total : total;
                 });
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
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)
template std::int64_t filter_scratch<float>(const Conv2d&);
template std::int64_t filter_scratch<double>(const Conv2d&);
template std::int64_t filter_scratch<bf16>(const Conv2d&);

}  // namespace zygos::ops
