// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/evaluation.hpp"

#include "zygos/io/batching.hpp"
#include "zygos/train/look_ahead.hpp"

#include <vector>

namespace zygos::train {

double fraction(std::int64_t hits, std::int64_t best) {
  return best == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(best);
}

std::optional<Evaluation> evaluate_fed(Engine& engine, const EvaluationInputs& inputs,
                                       const std::function<bool()>& stop) {
  const std::int64_t batches =
      io::batches_per_epoch(inputs.samples, engine.schedule().batch, false);
  inputs.feed.seek(1, batches);
  std::vector<double> predictions;
  Evaluation out;
  std::int64_t hits = 0;
  std::int64_t best_hits = 0;
  double loss_sum = 0.0;
  for (std::int64_t i = 0; i < batches; ++i) {
    if (stop()) {
      return std::nullopt;
    }
    const Batch batch = batch_of(inputs.feed.next());
    if (inputs.observe) {
      predictions.resize(static_cast<std::size_t>(batch.samples() * inputs.outputs));
    }
    const StepReport report = engine.evaluate(batch, predictions);
    if (inputs.observe) {
      inputs.observe(out.samples, predictions);
    }
    loss_sum += report.loss * static_cast<double>(report.samples);
    hits += report.hits;
    best_hits += report.best_hits;
    out.samples += report.samples;
  }
  if (out.samples > 0) {
    out.loss = loss_sum / static_cast<double>(out.samples);
    out.score = fraction(hits, best_hits);
    out.scored = best_hits > 0;
  }
  return out;
}

Evaluation evaluate(Engine& engine, const io::Dataset& data) {
  io::BatchFeed feed(data, {.batch = engine.schedule().batch});
  return *evaluate_fed(engine, {.feed = feed, .samples = data.size()}, [] { return false; });
}

}  // namespace zygos::train
