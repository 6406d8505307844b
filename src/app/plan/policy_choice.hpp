// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies by name, on command lines and beside the deck's own one.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/policies/choice.hpp"

#include <string>
#include <vector>

namespace zygos::app {

using policies::merged;
using policies::PolicyChoice;

/// From "single,gpipe:micro_batches=4,recompute=always,gpipe:cuts=[fc2,fc3]". Throws UsageError.
std::vector<PolicyChoice> policy_choices_from(const std::string& text);

/// Makes the policy. Options that are not given have their defaults; those of the deck's own policy
/// are the deck's. Throws deck::DeckError for an unknown keyword or option.
train::PolicyPtr policy_of(const RunSetup& setup, const PolicyChoice& choice);

/// True if the deck asks for the policy by name: one that learns something else may be recommended
/// then.
bool deck_names(const RunSetup& setup, const std::string& keyword);

}  // namespace zygos::app
