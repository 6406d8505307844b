// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/model.hpp"

#include "zygos/load/data_facts.hpp"

#include <utility>

namespace zygos::load {

infer::Model model_of(const SavedModel& saved, const ModelOptions& options) {
  DataFacts facts = data_facts_in(saved.checkpoint.facts);
  return {saved.graph,
          weights_of(saved.checkpoint),
          {.dtype = options.dtype.value_or(saved.deck.spec.precision),
           .block = options.block,
           .min_block = saved.deck.spec.train.batch,
           .inputs = std::move(facts.inputs),
           .outputs = std::move(facts.targets)}};
}

infer::Model load_model(const std::filesystem::path& path, const ModelOptions& options) {
  return model_of(load_saved_model(path, options.best), options);
}

}  // namespace zygos::load
