// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/evaluation.hpp"

#include "zygos/io/batching.hpp"

namespace zygos::train {

Batch batch_of(const io::FedBatch& fed) { return {fed.inputs, fed.targets, fed.ids, fed.rows}; }

double fraction(std::int64_t hits, std::int64_t best) {
  return best == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(best);
}

std::optional<Evaluation> evaluate_fed(Engine& engine, io::BatchFeed& feed, std::int64_t samples,
                                       const std::function<bool()>& stop) {
  const std::int64_t batches = io::batches_per_epoch(samples, engine.schedule().batch, false);
  feed.seek(1, batches);
  Evaluation out;
  std::int64_t hits = 0;
  std::int64_t best_hits = 0;
  double loss_sum = 0.0;
  for (std::int64_t i = 0; i < batches; ++i) {
    if (stop()) {
      return std::nullopt;
    }
    const Batch batch = batch_of(feed.next());
    const StepReport report = engine.evaluate(batch);
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
  return *evaluate_fed(engine, feed, data.size(), [] { return false; });
}

}  // namespace zygos::train
