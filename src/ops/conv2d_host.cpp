// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of host lanes: threads over the pieces of window products.
#include "ops/activation_math.hpp"
#include "ops/conv2d_tiled.hpp"
#include "ops/for_each_space.hpp"
#include "ops/gradient_way.hpp"
#include "ops/launch.hpp"
#include "ops/sample_columns.hpp"
#include "ops/sample_product.hpp"
#include "ops/window_columns.hpp"
#include "ops/window_product.hpp"

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
void finish(T* out, std::int64_t count, T bias) {
  for (std::int64_t i = 0; i < count; ++i) {
    out[i] = activated<which>(out[i] + bias);
  }
}

template <Activation which, class T>
void finish(const typename WindowPieces<T>::Piece& piece, std::int64_t rows_of_group,
            std::int64_t positions, const Wide<T>* bias, typename WindowPieces<T>::Tile& tile) {
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    const Wide<T> b =
        bias == nullptr ? Wide<T>(0) : bias[piece.group * rows_of_group + piece.first_row + row];
    finish<which>(tile.data() + row * thin::panel<Wide<T>>, positions, b);
  }
}

template <class Exec, class T>
void by_samples(const char* label, const Exec& exec, const WindowProduct<T>& product,
                const Epilogue<Exec, T>& epilogue) {
  const SampleProduct<T> pieces(product, pieces_for(exec));
  const T* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(label, exec, pieces.count(), pieces_together(pieces.volume()),
                   [&](std::int64_t index) {
                     typename SampleProduct<T>::Scratch scratch;
                     const auto piece = pieces[index];
                     const std::int64_t numbers = piece.band.positions() * thin::width<T>;
                     pieces.load(piece, scratch);
                     for_each_part(0, product.rows, thin::most_rows,
                                   [&](std::int64_t first, std::int64_t count, std::int64_t) {
                                     pieces.compute(piece, {first, count}, scratch);
                                     const std::int64_t row = piece.group * product.rows + first;
                                     for (std::int64_t r = 0; !plain && r < count; ++r) {
                                       finish<which>(scratch.tile.data() + r * numbers, numbers,
                                                     bias == nullptr ? T(0) : bias[row + r]);
                                     }
                                     pieces.store(piece, {first, count}, scratch);
                                   });
                   });
  });
}

template <class Exec, class T>
void compute(const char* label, const Exec& exec, const WindowProduct<T>& product,
             const Epilogue<Exec, T>& epilogue) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    if (SampleProduct<T>::pays(product)) {
      return by_samples(label, exec, product, epilogue);
    }
  }
  const WindowPieces<T> pieces(product, pieces_for(exec, 8));
  const Wide<T>* const bias = epilogue.bias.data();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(
        label, exec, pieces.count(), pieces_together(pieces.volume()), [&](std::int64_t index) {
          typename WindowPieces<T>::Scratch scratch;
          const auto piece = pieces[index];
          for (std::int64_t part = 0; part < pieces.panels_of(piece); ++part) {
            const Panel<Wide<T>> panel = pieces.panel_of(piece, part);
            pieces.compute(piece, part, panel, scratch);
            if (!plain) {
              finish<which, T>(piece, product.rows, panel.positions(), bias, scratch.tile);
            }
            pieces.store(piece, panel, scratch.tile);
          }
        });
  });
}

template <class Exec, class T>
void by_columns_of_samples(const char* label, const Exec& exec, const WindowProduct<T>& product,
                           T* out, const Epilogue<Exec, T>& epilogue) {
  const SampleColumns<T> columns(product, out, pieces_for(exec));
  const T* const bias = epilogue.bias.data();
  const std::int64_t numbers = product.from_plane() * thin::width<T>;
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    const std::int64_t volume = product.rows * product.depth() * product.positions() *
                                product.samples * product.groups / columns.count();
    for_each_piece(label, exec, columns.count(), pieces_together(volume), [&](std::int64_t index) {
      typename SampleColumns<T>::Scratch scratch;
      const auto piece = columns[index];
      columns.load(piece, scratch);
      for (std::int64_t channel = piece.begin; channel < piece.end; ++channel) {
        columns.compute(piece, channel, scratch);
        if (!plain) {
          finish<which>(scratch.plane.data(), numbers,
                        bias == nullptr ? T(0) : bias[piece.group * product.channels + channel]);
        }
        columns.store(piece, channel, scratch);
      }
    });
  });
}

template <class Exec, class T>
void by_columns(const char* label, const Exec& exec, const WindowProduct<T>& product, T* out,
                const Epilogue<Exec, T>& epilogue) {
  if (SampleColumns<T>::pays(product)) {
    return by_columns_of_samples(label, exec, product, out, epilogue);
  }
  const WindowColumns<T> columns(product, out);
  const Wide<T>* const bias = epilogue.bias.data();
  const std::int64_t volume = product.rows * product.depth() * product.positions();
  with_activation(epilogue.activation, [&](auto constant) {
    constexpr Activation which = decltype(constant)::value;
    const bool plain = bias == nullptr && which == Activation::none;
    for_each_piece(label, exec, columns.count(), pieces_together(volume), [&](std::int64_t piece) {
      columns.compute(piece);
      const std::int64_t first = piece % product.groups * product.channels;
      T* plane = out + piece * product.channels * product.from_plane();
      for (std::int64_t i = 0; !plain && i < product.channels; ++i, plane += product.from_plane()) {
        finish<which>(plane, product.from_plane(), bias == nullptr ? T(0) : bias[first + i]);
      }
    });
  });
}

/// Products of registers that the gradient of a sample's input takes as a window product.
template <class T>
std::int64_t gradient_products(const Conv2d& conv) {
  const std::int64_t positions =
      conv.y.input * divided_up(conv.x.input, static_cast<std::int64_t>(thin::width<Wide<T>>));
  return conv.weights() * positions;
}

/// The pieces of a gradient of weights, then their sum.
template <class Exec, class T, class Gradient>
void sum_up(const Exec& exec, const WindowProduct<T>& product, const Gradient& gradient,
            Wide<T>* d_w, Into into) {
  const std::int64_t rows = product.groups * product.rows;
  const std::int64_t volume = product.samples * rows * product.depth() * product.positions() /
                              std::max<std::int64_t>(gradient.count(), 1);
  for_each_piece("zygos::ops::conv2d_backward_filter", exec, gradient.count(),
                 pieces_together(volume), [&](std::int64_t piece) { gradient.compute(piece); });
  for_each_piece("zygos::ops::conv2d_add_up", exec, rows, gradient.count() * product.depth(),
                 [&](std::int64_t row) { gradient.add_up(row, d_w, into == Into::added); });
}

/// Sums of a channel, several beside each other: one after the other they would wait for the adder.
template <class T>
double channel_sum(std::int64_t samples, std::int64_t stride, std::int64_t positions,
                   const T* image) {
  constexpr std::int64_t beside = 32;
  std::array<double, beside> totals{};
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    const T* const in = image + sample * stride;
    std::int64_t i = 0;
    for (; i + beside <= positions; i += beside) {
      for (std::int64_t j = 0; j < beside; ++j) {
        totals[static_cast<std::size_t>(j)] += static_cast<double>(in[i + j]);
      }
    }
    for (std::int64_t j = 0; i + j < positions; ++j) {
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
            const Epilogue<Exec, T>& epilogue) {
  compute("zygos::ops::conv2d", exec, forward_product<T>(conv, w.data(), x.data(), y.data()),
          epilogue);
}

template <class Exec, class T>
void conv2d_backward_input(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> d_y,
                           VectorView<Exec, const Wide<T>> w, VectorView<Exec, Wide<T>> turned,
                           VectorView<Exec, T> d_x, const Epilogue<Exec, T>& epilogue) {
  const char* const label = "zygos::ops::conv2d_backward_input";
  const auto forward = forward_product<T>(conv, w.data(), nullptr, const_cast<T*>(d_y.data()));
  if constexpr (std::is_same_v<T, Wide<T>>) {
    if (WindowColumns<T>::pays(forward, gradient_products<T>(conv))) {
      return by_columns(label, exec, forward, d_x.data(), epilogue);
    }
  }
  for_each_phase<Exec, T>(exec, conv, d_y, w, turned, d_x, [&](const WindowProduct<T>& product) {
    compute(label, exec, product, epilogue);
  });
}

template <class T>
std::int64_t filter_scratch(const Conv2d& conv) {
  return gradient_numbers(forward_product<T>(conv));
}

template <class Exec, class T>
void conv2d_backward_filter(const Exec& exec, const Conv2d& conv, VectorView<Exec, const T> x,
                            VectorView<Exec, const T> d_y, VectorView<Exec, Wide<T>> partial_sums,
                            VectorView<Exec, Wide<T>> d_w, Into into) {
  const auto product = forward_product<T>(conv, nullptr, x.data(), const_cast<T*>(d_y.data()));
  if constexpr (std::is_same_v<T, Wide<T>>) {
    const GradientWay way = gradient_way(product);
    T* const partial = partial_sums.data();
    if (way == GradientWay::channels) {
      return sum_up(exec, product, ChannelGradient<T>(product, partial, pieces_for(exec)),
                    d_w.data(), into);
    }
    if (way == GradientWay::samples) {
      return sum_up(exec, product, SampleGradient<T>(product, partial, pieces_for(exec)),
                    d_w.data(), into);
    }
  }
  sum_up(exec, product, WindowGradient<T>(product, partial_sums.data()), d_w.data(), into);
}

template <class Exec, class T>
void sum_channels(const Exec& exec, std::int64_t samples, VectorView<Exec, const T> image,
                  VectorView<Exec, Wide<T>> sums, Into into) {
  const auto channels = static_cast<std::int64_t>(sums.size());
  const std::int64_t stride =
      static_cast<std::int64_t>(image.size()) / std::max<std::int64_t>(samples, 1);
  const std::int64_t positions = stride / std::max<std::int64_t>(channels, 1);
  for_each_piece("zygos::ops::sum_channels", exec, channels, pieces_together(samples * positions),
                 [&](std::int64_t channel) {
                   const auto total = static_cast<Wide<T>>(
                       channel_sum(samples, stride, positions, image.data() + channel * positions));
                   Wide<T>& sum = sums.data()[channel];
                   sum = into == Into::added ? sum + total : total;
                 });
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
ZYGOS_FOR_EACH_HOST_SPACE(ZYGOS_INSTANTIATE)
template std::int64_t filter_scratch<float>(const Conv2d&);
template std::int64_t filter_scratch<double>(const Conv2d&);
template std::int64_t filter_scratch<bf16>(const Conv2d&);

}  // namespace zygos::ops
