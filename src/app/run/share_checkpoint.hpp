// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/run/ranks.hpp"

#include "zygos/io/checkpoint_store.hpp"

#include <optional>

namespace zygos::app {

/// Collective: rank 0's checkpoint, or none, becomes that of all ranks, whose machines need not see
/// the folder it lies in.
void share_checkpoint(std::optional<io::Checkpoint>& checkpoint, const Ranks& ranks);

}  // namespace zygos::app
