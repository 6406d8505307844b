// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A policy with its options, as text: what command lines name, checkpoints keep and decks can say.
#pragma once

#include "zygos/train/policy.hpp"

#include <string>

namespace zygos::policies {

struct PolicyChoice {
  std::string keyword;
  train::PolicyOptions options;

  /// "gpipe(micro_batches 4, recompute always)", "single(host)"; without cuts and
  /// lanes of stages.
  std::string label() const;
  /// "policy: {type: gpipe, micro_batches: 4}"
  std::string deck_line() const;
};

/// Options of `added` win.
train::PolicyOptions merged(train::PolicyOptions options, const train::PolicyOptions& added);

}  // namespace zygos::policies
