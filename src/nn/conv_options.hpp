// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of a convolution and of a transposed one, and how a deck gives them.
#pragma once

#include "nn/axis_pair.hpp"
#include "ops/conv/conv2d.hpp"

#include "zygos/nn/layers.hpp"

#include <string_view>

namespace zygos::nn {

/// Throws UsageError for options that no input makes sense of.
void require_conv_options(std::string_view layer, const Conv2dOptions& options);
void require_groups(std::string_view layer, std::int64_t groups, std::int64_t channels);
void require_window(std::string_view layer, const ops::Conv2d& conv);

/// `image`: the dimensions of the convolution's input, whichever side of the layer that is.
ops::Conv2d conv_of(const Conv2dOptions& options, std::int64_t batch, std::int64_t channels,
                    std::int64_t filters, const ImageExtents& image);

void add_conv_keys(deck::Schema& schema);
/// Those without an extent: groups, bias and activation.
void add_common_conv_keys(deck::Schema& schema);
Conv2dOptions conv_options_of(const deck::Section& section);

}  // namespace zygos::nn
