// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `memory_plan` of a deck: which layers' activations are kept, recomputed or offloaded.
#pragma once

#include "app/run/build_run.hpp"
#include "app/run/run_setup.hpp"

#include <string>

namespace zygos::app {

/// Throws DeckError for layers that the model does not have, MemoryError if `auto` finds nothing
/// that fits the lanes' budgets, and what the policy throws.
ActivationChoice activation_choice(const CheckedDeck& checked, const RunSetup& setup);

/// A row for each segment of a schedule that has some: its layers, what becomes of their
/// activations and how many bytes these are for the largest micro-batch.
std::string activation_table(const graph::Graph& graph, const schedule::Schedule& schedule);

}  // namespace zygos::app
