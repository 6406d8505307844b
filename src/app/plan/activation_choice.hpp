// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `memory_plan` of a deck: which layers' activations are kept, recomputed, offloaded or spilled.
#pragma once

#include "app/run/build_run.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/plan/profile.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace zygos::app {

/// Throws DeckError for layers that the model does not have, MemoryError if `auto` finds nothing
/// that fits the lanes' budgets, and what the policy throws.
ActivationChoice activation_choice(const load::CheckedDeck& checked, const RunSetup& setup);

/// Assumed costs, but for links and the disk where the deck says what they do.
plan::Profile profile_by_deck(const RunSetup& setup, const plan::Problem& problem);

/// What becomes of one segment's activations.
struct ActivationRow {
  std::string layers;
  schedule::Keeping keeping = schedule::Keeping::kept;
  std::int64_t bytes = 0;  ///< of the largest micro-batch
  double seconds = 0.0;    ///< to bring them away and back, or to compute them again
};

/// A row for each segment of a schedule that has some, in the order of the layers.
std::vector<ActivationRow> activation_rows(const graph::Graph& graph,
                                           const schedule::Schedule& schedule,
                                           const plan::Profile& profile);
std::string activation_table(const std::vector<ActivationRow>& rows);
nlohmann::json json_of(const std::vector<ActivationRow>& rows);

}  // namespace zygos::app
