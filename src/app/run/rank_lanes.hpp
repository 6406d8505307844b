// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Which process has which of a deck's lanes.
#pragma once

#include "app/run/ranks.hpp"

#include "zygos/lane/lane_set.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace zygos::app {

/// Rank of every lane: neighbours in the deck stay together, as even as can be (lane i belongs to
/// rank i * ranks / lanes). Throws UsageError for more ranks than lanes.
std::vector<int> deal_out(std::size_t lanes, int ranks);

/// Collective: the lanes as their owners resolved them, on every rank. `mine`: this rank's in the
/// order of the deck.
std::vector<lane::LaneSpec> agree_on_lanes(std::vector<lane::LaneSpec> mine,
                                           const std::vector<int>& owners, const Ranks& ranks);

/// This rank's lanes, and what the others' are like.
std::unique_ptr<lane::LaneSet> make_lanes(const std::vector<lane::LaneSpec>& specs,
                                          const std::vector<int>& owners, int rank);

}  // namespace zygos::app
