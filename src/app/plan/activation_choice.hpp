// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `memory_plan` of a deck: which layers' activations are kept, recomputed, offloaded or spilled.
#pragma once

#include "app/run/build_run.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/plan/profile.hpp"

#include <string>

namespace zygos::app {

/// Throws DeckError for layers that the model does not have, MemoryError if `auto` finds nothing
/// that fits the lanes' budgets, and what the policy throws.
ActivationChoice activation_choice(const CheckedDeck& checked, const RunSetup& setup);

/// Assumed costs, but for links and the disk where the deck says what they do.
plan::Profile profile_by_deck(const RunSetup& setup, const plan::Problem& problem);

/// A row for each segment of a schedule that has some: its layers, what becomes of their
/// activations, how many bytes these are for the largest micro-batch, and the time that it takes to
/// bring them away and back, or to compute them again.
std::string activation_table(const graph::Graph& graph, const schedule::Schedule& schedule,
                             const plan::Profile& profile);

}  // namespace zygos::app
