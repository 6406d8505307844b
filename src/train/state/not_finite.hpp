// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a step first were not finite. Collective: the same text on every rank.
#pragma once

#include "train/place/places.hpp"

#include <string>

namespace zygos::train {

/// For the message of an error, after a call that examined every layer's output.
std::string first_bad_output(const Places& places, const graph::Graph& graph);
/// The same of gradients, which lie in memory.
std::string first_bad_gradient(const Places& places, const graph::Graph& graph);

}  // namespace zygos::train
