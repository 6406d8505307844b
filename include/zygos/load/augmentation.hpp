// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/augmentation.hpp"
#include "zygos/io/dataset.hpp"

namespace zygos::load {

/// What the deck's section `data.augment` says of these training samples, as the model reads them.
/// Throws a deck error at the key's place for changes that they do not take: of images where
/// samples are none or targets are images themselves, and noise on token ids.
io::AugmentationOptions augmentation_of(const deck::DataSpec& spec, const graph::Graph& graph,
                                        const io::Dataset& training, deck::Findings findings);

}  // namespace zygos::load
