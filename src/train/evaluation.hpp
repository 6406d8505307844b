// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zygos/io/batch_feed.hpp"
#include "zygos/train/trainer.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace zygos::train {

/// Hits of those that were possible; 0 of none.
double fraction(std::int64_t hits, std::int64_t best);

/// What an evaluation is made of.
struct EvaluationInputs {
  io::BatchFeed& feed;
  std::int64_t samples = 0;
  std::int64_t outputs = 0;  ///< of the model, for a sample; needed with `observe`
  /// See TrainerOptions::observe.
  std::function<void(std::int64_t, std::span<const double>)> observe{};
};

/// All batches; nothing if `stop`, asked before each of them, says that there is no time for the
/// rest.
std::optional<Evaluation> evaluate_fed(Engine& engine, const EvaluationInputs& inputs,
                                       const std::function<bool()>& stop);

}  // namespace zygos::train
