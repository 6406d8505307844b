// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/pretrained.hpp"

#include "app/text.hpp"

#include "zygos/load/pretrained.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <string>

namespace zygos::app {

namespace {

constexpr const char* frozen_fact = "frozen_as_loaded";  // names, a line each

}  // namespace

void load_pretrained_weights(const load::CheckedDeck& checked, RunSetup& setup, Console& console) {
  const auto& spec = checked.spec.model.pretrained;
  if (!spec) {
    return;
  }
  load::MatchedWeights matched =
      load::load_pretrained(*spec, *setup.graph, checked.deck.findings());
  setup.frozen_as_loaded =
      load::freeze_loaded(checked.spec.model, matched, *setup.graph, checked.deck.findings());
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
  if (!setup.frozen_as_loaded.empty()) {
    console.note(fmt::format("frozen, as loaded: {}", fmt::join(setup.frozen_as_loaded, ", ")));
  }
}

void freeze_as_loaded(const load::CheckedDeck& checked, RunSetup& setup) {
  const auto& spec = checked.spec.model.pretrained;
  if (spec && spec->freeze_loaded) {
    setup.frozen_as_loaded = load::freeze_loaded(
        checked.spec.model, load::load_pretrained(*spec, *setup.graph, checked.deck.findings()),
        *setup.graph, checked.deck.findings());
  }
}

void add_frozen_layers(const RunSetup& setup, io::Facts& facts) {
  if (!setup.frozen_as_loaded.empty()) {
    facts[frozen_fact] = fmt::format("{}", fmt::join(setup.frozen_as_loaded, "\n"));
  }
}

void freeze_as_in(const io::Checkpoint& checkpoint, RunSetup& setup) {
  const auto found = checkpoint.facts.find(frozen_fact);
  if (found == checkpoint.facts.end()) {
    return;
  }
  std::istringstream lines(found->second);
  setup.frozen_as_loaded.clear();
  for (std::string name; std::getline(lines, name);) {
    setup.frozen_as_loaded.push_back(name);
  }
  load::freeze_layers(setup.frozen_as_loaded, *setup.graph);
}

}  // namespace zygos::app
