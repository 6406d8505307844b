// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/frozen_layers.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <string>

namespace zygos::deck {
namespace {

/// A layer's name, and those of the copy and the repetition it is in: "block.2.fc1", "block.2",
/// "block".
std::vector<std::string> names_of(const LayerSpec& layer) {
  std::vector<std::string> names{layer.name};
  for (auto at = layer.name.rfind('.'); at != std::string::npos;
       at = at == 0 ? std::string::npos : layer.name.rfind('.', at - 1)) {
    names.push_back(layer.name.substr(0, at));
  }
  return names;
}

bool is_meant(std::string_view pattern, const LayerSpec& layer) {
  return std::ranges::any_of(names_of(layer),
                             [&](const std::string& name) { return matches(pattern, name); });
}

std::vector<std::string> all_names(const std::vector<LayerSpec>& layers) {
  std::vector<std::string> all;
  for (const LayerSpec& layer : layers) {
    for (const std::string& name : names_of(layer)) {
      if (!contains(all, name)) {
        all.push_back(name);
      }
    }
  }
  return all;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;    // in the pattern
  std::size_t read = 0;  // of the text
  std::size_t star = std::string_view::npos;
  std::size_t tried = 0;  // where the last star ends in the text
  while (read < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      tried = read;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[read])) {
      ++at;
      ++read;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      read = ++tried;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::vector<FrozenLayers> frozen_repetitions(const Section& model,
                                             const std::vector<LayerSpec>& layers) {
  std::vector<FrozenLayers> all;
  for (const Section& section : model.sections("layers")) {
    if (section.text("type") != "repeat" || !section.has("frozen") || !section.boolean("frozen")) {
      continue;
    }
    const std::string& name = section.text("name");
    FrozenLayers frozen{"repetition " + in_quotes(name), {}, section.position("frozen")};
    for (const LayerSpec& layer : layers) {
      if (layer.name.starts_with(name + ".") && !layer.says_trained()) {
        frozen.layers.push_back(layer.name);
      }
    }
    all.push_back(std::move(frozen));
  }
  return all;
}

void read_freeze(const Section& pretrained, const std::vector<LayerSpec>& layers,
                 PretrainedSpec& spec, Findings& findings) {
  if (!pretrained.has("freeze") || pretrained.is_word("freeze", "none")) {
    return;
  }
  spec.freeze_position = pretrained.position("freeze");
  if (pretrained.is_word("freeze", "loaded")) {
    spec.freeze_loaded = true;
    return;
  }
  for (const std::string& pattern : pretrained.texts("freeze")) {
    FrozenLayers frozen{in_quotes(pattern), {}, spec.freeze_position};
    bool found = false;
    for (const LayerSpec& layer : layers) {
      const bool meant = is_meant(pattern, layer);
      found = found || meant;
      if (meant && !layer.says_trained()) {
        frozen.layers.push_back(layer.name);
      }
    }
    if (!found) {
      findings.error(spec.freeze_position,
                     in_quotes(pattern) + " in 'freeze' is the name of no layer",
                     suggestion(pattern, all_names(layers)));
      continue;
    }
    spec.frozen.push_back(std::move(frozen));
  }
}

}  // namespace zygos::deck
