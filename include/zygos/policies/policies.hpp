// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Factories of every policy, for programs that choose one in C++, and the registry for decks.
#pragma once

#include "zygos/train/policy.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zygos::policies {

/// The whole batch on one place.
struct SingleOptions {
  std::string place;  ///< lane name; empty: the first lane
};
train::PolicyPtr single(SingleOptions options);

/// Data parallel over two unequal places (policies.md 3.17): place 0 trains `share` of the batch,
/// the other the rest; gradients are summed exactly and both replicas update. No share: chosen from
/// the profile so that both end together.
struct CoarseSplitOptions {
  std::optional<double> share;          ///< of the first lane, 0 to 1
  std::optional<std::int64_t> samples;  ///< of the first lane, exact; wins over share
};
train::PolicyPtr coarse_split(CoarseSplitOptions options);

/// Which layers make a stage, and which lane holds it.
struct StageOptions {
  std::vector<std::string> cuts;   ///< first layer of every stage but the first; empty: chosen
  std::vector<std::string> lanes;  ///< of the stages in their order; empty: all of the run's
};

/// The layers divided between places; a batch goes through them in turn (policies.md 3.5).
struct LayerPlacementOptions {
  StageOptions stages;
};
train::PolicyPtr layer_placement(LayerPlacementOptions options);

std::vector<train::PolicyEntry> registry();

}  // namespace zygos::policies
