// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data parallelism in which a root owns the weights: it broadcasts them in chunks of layers at the
// begin of every step, and updates them at its end (policies.md 3.19).
#pragma once

#include "zygos/plan/problem.hpp"
#include "zygos/schedule/builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::policies {

/// Layers with parameters, which a chunk has at least one of.
std::int64_t max_chunks(const schedule::ModelOutline& model);

/// One step of workers whose places and micro-batches, as many for each, the outline has; the first
/// worker is the root. `chunks` of about equal bytes. UsageError for none and more than
/// max_chunks().
schedule::Schedule chunked_broadcast_schedule(const plan::Problem& problem,
                                              schedule::Outline outline,
                                              const std::vector<schedule::Place>& workers,
                                              std::int64_t chunks);

}  // namespace zygos::policies
