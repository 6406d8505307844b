// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/layer_specs.hpp"

#include "deck/read/text.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace zygos::deck {
namespace {

constexpr const char* input_word = "input";

/// Names that inputs may have at a point of a list of layers, with what they stand for. Copies of a
/// list each have their own.
class Scope {
 public:
  /// `layers` is the list, `input` what its word "input" stands for.
  Scope(const std::vector<Section>& layers, std::string input, std::string prefix)
      : layers_(layers), prefix_(std::move(prefix)) {
    meanings_.emplace(input_word, std::move(input));
    known_.emplace_back(input_word);
  }

  std::string full_name(const Section& layer) const { return prefix_ + layer.text("name"); }

  /// From now on the layer can be read; its output is that of the layer `meaning`.
  void add(const Section& layer, std::string meaning, Findings& findings) {
    const std::string& name = layer.text("name");
    if (name == input_word) {
      findings.error(layer.position("name"), "no layer may be called 'input'",
                     "that is the model's input; give the layer another name");
      return;
    }
    meanings_.insert_or_assign(name, std::move(meaning));
    known_.push_back(name);
  }

  /// What a layer reads; empty if it does not say so.
  std::vector<std::string> inputs_of(const Section& layer, Findings& findings) const {
    std::vector<std::string> inputs;
    if (!layer.has("inputs")) {
      return inputs;
    }
    for (const std::string& input : layer.texts("inputs")) {
      const auto found = meanings_.find(input);
      if (found != meanings_.end()) {
        inputs.push_back(found->second);
        continue;
      }
      const bool later = std::ranges::any_of(
          layers_, [&](const Section& other) { return other.text("name") == input; });
      findings.error(
          layer.position("inputs"),
          "layer '" + layer.text("name") + "' has no input " + in_quotes(input),
          later ? "it must stand before the layers that read it" : suggestion(input, known_));
    }
    return inputs;
  }

 private:
  const std::vector<Section>& layers_;
  std::string prefix_;
  std::map<std::string, std::string> meanings_;
  std::vector<std::string> known_;
};

LayerSpec spec_of(const Section& layer, const Scope& scope, Findings& findings) {
  return {scope.full_name(layer),
          layer.text("type"),
          scope.inputs_of(layer, findings),
          layer,
          layer.position(),
          layer.has("frozen") && layer.boolean("frozen")};
}

/// Appends all copies; returns the name of the last layer.
std::string add_copies_of(const Section& repeat, std::vector<std::string> inputs,
                          std::vector<LayerSpec>& all, Findings& findings) {
  if (inputs.size() > 1) {
    findings.error(repeat.position("inputs"),
                   "what is repeated reads one layer, not " + std::to_string(inputs.size()),
                   "join them with a layer before it");
  }
  std::string input = !inputs.empty() ? inputs.front()
                      : all.empty()   ? std::string(input_word)
                                      : all.back().name;
  const auto layers = repeat.sections("layers");
  for (std::int64_t copy = 1; copy <= repeat.integer("times"); ++copy) {
    Scope scope(layers, input, repeat.text("name") + "." + std::to_string(copy) + ".");
    for (std::size_t i = 0; i < layers.size(); ++i) {
      LayerSpec spec = spec_of(layers[i], scope, findings);
      if (i == 0 && spec.inputs.empty()) {
        spec.inputs = {input};
      }
      scope.add(layers[i], spec.name, findings);
      all.push_back(std::move(spec));
    }
    input = all.back().name;
  }
  return input;
}

}  // namespace

std::vector<LayerSpec> layer_specs(const Section& model, Findings& findings) {
  const auto layers = model.sections("layers");
  Scope scope(layers, input_word, "");
  std::vector<LayerSpec> all;
  for (const Section& layer : layers) {
    std::string output = layer.text("name");
    if (layer.text("type") == "repeat") {
      output = add_copies_of(layer, scope.inputs_of(layer, findings), all, findings);
    } else {
      all.push_back(spec_of(layer, scope, findings));
    }
    scope.add(layer, std::move(output), findings);
  }
  return all;
}

}  // namespace zygos::deck
