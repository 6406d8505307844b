// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Layers that are frozen several at once: those of a repetition, or those that pretrained.freeze
// names. One that says `frozen: false` itself is in neither.
#pragma once

#include "zygos/deck/run_schema.hpp"

#include <string_view>
#include <vector>

namespace zygos::deck {

/// Of the repetitions of section `model` that say `frozen: true`, the layers of every copy.
std::vector<FrozenLayers> frozen_repetitions(const Section& model,
                                             const std::vector<LayerSpec>& layers);

/// What `freeze` of section `pretrained` says, into `spec`. Reports what is the name of no layer,
/// with one that is near.
void read_freeze(const Section& pretrained, const std::vector<LayerSpec>& layers,
                 PretrainedSpec& spec, Findings& findings);

/// Whether the pattern, in which '*' stands for any characters and '?' for one, is the whole text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace zygos::deck
