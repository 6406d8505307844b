// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batch_feed.hpp"
#include "zygos/train/trainer.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace zygos::train {

Batch batch_of(const io::FedBatch& fed);
/// Hits of those that were possible; 0 of none.
double fraction(std::int64_t hits, std::int64_t best);

/// All batches of a feed over `samples` samples; nothing if `stop`, asked before each batch, says
/// that there is no time for the rest.
std::optional<Evaluation> evaluate_fed(Engine& engine, io::BatchFeed& feed, std::int64_t samples,
                                       const std::function<bool()>& stop);

}  // namespace zygos::train
