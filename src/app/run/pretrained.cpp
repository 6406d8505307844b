// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/pretrained.hpp"

#include "app/text.hpp"

#include "zygos/load/pretrained.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace zygos::app {

void load_pretrained_weights(const load::CheckedDeck& checked, RunSetup& setup, Console& console) {
  const auto& spec = checked.spec.model.pretrained;
  if (!spec) {
    return;
  }
  load::MatchedWeights matched =
      load::load_pretrained(*spec, *setup.graph, checked.deck.findings());
  setup.pretrained = std::move(matched.weights);
  console.note(fmt::format("beginning with {} of {} parameter tensors from {}",
                           text_of_count(std::ssize(setup.pretrained)),
                           text_of_count(std::ssize(setup.graph->parameters())),
                           spec->file.string()));
  if (!matched.missing.empty()) {
    console.note(fmt::format("from the seed: {}", fmt::join(matched.missing, ", ")));
  }
  if (!matched.unused.empty()) {
    console.note(fmt::format("left out, of no layer: {}", fmt::join(matched.unused, ", ")));
  }
}

}  // namespace zygos::app
