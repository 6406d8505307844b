// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic digits: strokes that are bent, turned, scaled, shifted and made noisy at random. A twin
// of MNIST that needs no file. Sample i is a pure function of (seed, i), with the same bits on
// every machine, so that a test set is the same stream further on.
#pragma once

#include "zygos/io/dataset.hpp"

#include <cstdint>

namespace zygos::synthetic {

struct GlyphOptions {
  std::int64_t samples = 60000;  ///< at least 1
  std::int64_t first = 0;        ///< number of the first sample in the stream; at least 0
  std::int64_t classes = 10;     ///< 2 to 10: the digits 0 to classes - 1
  std::int64_t side = 28;        ///< pixels, 8 to 256
  std::int64_t channels = 1;     ///< 1 to 16: the same strokes, ink and noise of their own
  std::uint64_t seed = 1;
  double jitter = 1.0;  ///< 0 to 2: how much a glyph is bent, turned, scaled and shifted
  double noise = 0.25;  ///< 0 to 1: amplitude of the noise in every pixel
};

/// u8 images [samples, side, side], of several channels [samples, channels, side, side], with
/// labels; the input scale is 1/255. Throws UsageError for options out of range.
io::Dataset make_glyphs(const GlyphOptions& options);

}  // namespace zygos::synthetic
