// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A policy with its options, as text: what command lines name, checkpoints keep and decks can say.
#pragma once

#include "app/run/run_setup.hpp"

#include <string>
#include <vector>

namespace zygos::app {

struct PolicyChoice {
  std::string keyword;
  train::PolicyOptions options;

  /// "gpipe(micro_batches 4, recompute always)", "single(host)"; without cuts and
  /// lanes of stages.
  std::string label() const;
  /// "policy: {type: gpipe, micro_batches: 4}"
  std::string deck_line() const;
};

/// From "single,gpipe:micro_batches=4,recompute=always,gpipe:cuts=[fc2,fc3]". Throws UsageError.
std::vector<PolicyChoice> policy_choices_from(const std::string& text);

/// Makes the policy. Options that are not given have their defaults; those of the deck's own policy
/// are the deck's. Throws deck::DeckError for an unknown keyword or option.
train::PolicyPtr policy_of(const RunSetup& setup, const PolicyChoice& choice);

/// Options of `added` win.
train::PolicyOptions merged(train::PolicyOptions options, const train::PolicyOptions& added);

}  // namespace zygos::app
