// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace zygos::plan {

/// What a place's lane did before a pass in the same step. It says in which caches weights and
/// gradients lie: 1F1B's passes take a fifth more than GPipe's where a stage and its gradients fill
/// a cache. An update in between, as PipeDream has, changes little.
enum class PassHistory : std::uint8_t {
  first,        ///< none of the kind over these nodes
  again,        ///< one of the kind, and behind it no other pass
  alternating,  ///< one of the kind, and then one of the other or of another place of the lane
};

/// By task; `first` of whatever is no pass. A recomputation is a forward.
std::vector<PassHistory> pass_histories(const schedule::Schedule& schedule);

}  // namespace zygos::plan
